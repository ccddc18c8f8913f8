import RoostFile

extension Store {
    /// Finds out where the bytes are in the file at `path`, which nobody need have open. Takes no lock, writes nothing,
    /// and makes the best of damaged files.
    ///
    /// Reads the headers of all chunks, and the nodes of all trees; no values. Memory: what the log since the last
    /// checkpoint takes, and a picture of bounded size. Branch nodes that pending changes have replaced count as dead,
    /// although opening needs them until the next checkpoint.
    ///
    /// - Parameters:
    ///   - path: the store's file.
    ///   - options: how to open the store; its key where it is encrypted, and the size of its nodes, by which is
    ///     measured how full they are.
    ///   - inspecting: how finely to look.
    ///   - progress: returns `false` to stop.
    /// - Throws: what keeps the file from being read, such as ``StoreError/Code/notAStore``,
    ///   ``StoreError/Code/wrongKey``, ``StoreError/Code/damaged`` when both headers are lost, or
    ///   ``StoreError/Code/cancelled``.
    public static func inspect(
        _ path: String, options: StoreOptions = StoreOptions(),
        inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> StoreInspection {
        try inspect(path, options: options, environment: .system, inspecting: inspecting, progress: progress)
    }

    /// As ``inspect(_:options:inspecting:progress:)``, on a medium of the caller's choice.
    package static func inspect(
        _ path: String, options: StoreOptions, environment: Environment,
        inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> StoreInspection {
        var options = options
        options.cacheSize = StoreCheck.cacheLimit
        let file = try StoreOpener(path: path, options: options, environment: environment).openFile(.readOnly)
        return try Inspector(
            file, reductions: options.reductions, nodeSize: options.nodeSizeInRange, inspecting
        ).run(at: nil, progress)
    }

    /// Finds out where the bytes of the store are as of its newest commit, while others read and write; see
    /// ``inspect(_:options:inspecting:progress:)``.
    public func inspect(
        _ inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> StoreInspection {
        let state = state
        try state.checkOpen()
        let file = DataFile(
            file: state.file.file, header: state.file.header, transform: state.file.codec.transform,
            cacheLimit: StoreCheck.cacheLimit)
        return try Inspector(
            file, reductions: options.reductions, nodeSize: options.nodeSizeInRange, inspecting
        ).run(at: state.record, progress)
    }
}
