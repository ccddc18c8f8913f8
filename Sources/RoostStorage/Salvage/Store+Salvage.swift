import RoostFile

extension Store {
    /// Rescues what is readable in the damaged file at `path` into a new store at `destination`, which must not exist
    /// yet. Never writes to the damaged file and takes no lock; nobody should be writing to it.
    ///
    /// The new store holds the newest readable version of every key: from the newest nodes, and where these can't be
    /// read from older nodes and the log. A deleted key may come back where what said so is lost. The header or its
    /// copy must be readable, because the salt in it is what tells chunks from other bytes.
    ///
    /// Memory: 24 bytes for each commit of the file, what the new store's options allow, and the largest value.
    ///
    /// - Parameters:
    ///   - path: the damaged store's file.
    ///   - destination: the new store's file.
    ///   - options: how to open and to make the stores: the key, and the reductions, without which trees come over
    ///     without theirs.
    ///   - progress: returns `false` to stop; then there is no new store.
    /// - Throws: ``StoreError/Code/alreadyExists``, ``StoreError/Code/damaged`` when both headers are lost,
    ///   ``StoreError/Code/notAStore``, ``StoreError/Code/wrongKey``, ``StoreError/Code/noSpace``.
    public static func salvage(
        _ path: String, to destination: String, options: StoreOptions = StoreOptions(),
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> SalvageReport {
        try salvage(path, to: destination, options: options, environment: .system, progress: progress)
    }

    /// As ``salvage(_:to:options:progress:)``, on a medium of the caller's choice.
    package static func salvage(
        _ path: String, to destination: String, options: StoreOptions, environment: Environment,
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> SalvageReport {
        let medium = environment.medium
        let part = destination + ".part"
        try fileCall { () throws(FileError) in
            if try medium.status(of: destination) != nil {
                throw FileError(.alreadyExists, operation: "salvage", path: destination)
            }
        }
        try LeftoverFile(part, medium).remove()
        let (store, report) = try salvage(path, into: part, options, environment, progress)
        // As long as the store is open nobody else takes its temporary name for a leftover.
        let file = store.state.file.file
        do throws(StoreError) {
            try store.sync()
            guard try file.isNamed(part, in: medium) else {
                throw StoreError(
                    .locked, "\(part) was replaced by another process. Salvage to another place.")
            }
            try fileCall { () throws(FileError) in
                try medium.rename(part, to: destination)
                try medium.syncDirectory(of: destination)
            }
        } catch {
            file.removeName(part, in: medium)
            throw error
        }
        try store.close()
        return report
    }

    /// The new store, still open and not synced, under its temporary name.
    private static func salvage(
        _ path: String, into part: String, _ options: StoreOptions, _ environment: Environment,
        _ progress: ProgressHandler?
    ) throws(StoreError) -> (Store, SalvageReport) {
        let opener = StoreOpener(path: path, options: options, environment: environment)
        let file = try opener.openFile(.readOnly)
        file.writtenEnd.store(StoreOpener.replayedStart, ordering: .releasing)
        let source = try SalvageSource(file)
        var making = options
        making.isReadOnly = false
        making.createsIfMissing = true
        making.compactsAutomatically = false
        making.durability = .relaxed(interval: 3600)
        making.writers = .one
        var maker = StoreOpener(path: part, options: making, environment: environment)
        maker.access = try fileCall { () throws(FileError) in try file.file.access() }
        maker.previous = file.codec.transform
        let store = try maker.openForWriting()
        do throws(StoreError) {
            let target = try SalvageTarget(store, source: file)
            let meter = ProgressMeter(total: source.regions.last?.end ?? 0, progress)
            let salvage = Salvage(source, to: target, meter: meter)
            do throws(StoreError) {
                try salvage.run()
                try meter.tell()
            } catch {
                target.abandon()
                throw error
            }
            var report = salvage.report
            (report.trees, report.entries) = try target.finish()
            return (store, report)
        } catch {
            store.state.file.file.removeName(part, in: environment.medium)
            throw error
        }
    }
}
