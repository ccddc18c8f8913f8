import RoostFile

extension Store {
    /// Verifies the store in the file at `path`, which nobody need have open: every byte of every commit, and every
    /// node and value that the newest commit leads to. Takes no lock and writes nothing.
    ///
    /// Reads the whole file and, once more, what is alive in it. Memory: ``CheckOptions/memoryLimit`` at most for
    /// references, what the log since the last checkpoint takes, and the largest value.
    ///
    /// - Parameters:
    ///   - path: the store's file.
    ///   - options: how to open the store; its reductions, and its key where it is encrypted, are of use.
    ///   - checking: what to look at, and with how much memory.
    ///   - progress: returns `false` to stop.
    /// - Throws: what keeps the check from being made, such as ``StoreError/Code/notAStore``,
    ///   ``StoreError/Code/wrongKey`` or ``StoreError/Code/cancelled``; damage is in the report.
    public static func check(
        _ path: String, options: StoreOptions = StoreOptions(), checking: CheckOptions = CheckOptions(),
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        try check(path, options: options, environment: .system, checking: checking, progress: progress)
    }

    /// As ``check(_:options:checking:progress:)``, on a medium of the caller's choice.
    package static func check(
        _ path: String, options: StoreOptions, environment: Environment,
        checking: CheckOptions = CheckOptions(),
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        var options = options
        options.cacheSize = StoreCheck.cacheLimit
        let opener = StoreOpener(path: path, options: options, environment: environment)
        do throws(StoreError) {
            let file = try opener.openFile(.readOnly)
            return try StoreCheck(file, reductions: options.reductions, checking).run(
                at: nil, progress)
        } catch {
            // Without a header nothing else can be made sense of.
            guard error.code == .damaged, let damage = error.cause as? Damage else { throw error }
            var report = CheckReport()
            report.findings = [
                CheckFinding(offset: damage.offset, what: damage.what, tree: nil, severity: .error)
            ]
            return report
        }
    }

    /// Verifies the store as of its newest commit, while others read and write; see
    /// ``check(_:options:checking:progress:)``.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        try snapshot().check(options, progress: progress)
    }
}

extension Snapshot {
    /// Verifies the store as of this snapshot; see ``Store/check(_:options:checking:progress:)``.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        try state.checkOpen()
        let file = DataFile(
            file: state.file.file, header: state.file.header, transform: state.file.codec.transform,
            cacheLimit: StoreCheck.cacheLimit)
        return try StoreCheck(file, reductions: state.reductions, options).run(at: state.record, progress)
    }
}
