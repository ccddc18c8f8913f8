import RoostFile
import RoostStorage
import Synchronization

/// Stores beside the documents' store, for what is derived from documents and can be made anew: indexes and views.
///
/// They are the files `derived/<name>.roost` of the database's directory, opened when they are first asked for, with the
/// database's key where it has one. They are never synced before they are closed or compacted, so they cost a commit
/// nothing; a power failure may take from them what it likes. One that is damaged, of another key or of no format known
/// here is thrown away and made anew, empty. Backups leave them out, and changing the key removes them.
///
/// Each is written by one process at a time, the first that asks for it, also where processes write the database by turns: the
/// others read it, and one of them goes on with it when that one has closed it.
package final class AuxiliaryStores: Sendable {
    private struct State {
        var open: [String: Store] = [:]
        /// Those that were thrown away because they could not be read, with the reason.
        var discarded: [String: String] = [:]
        var transform: (any ChunkTransformFactory)?
        var isClosed = false
    }

    private let state: Mutex<State>
    private let database: String
    private let isReadOnly: Bool
    let environment: Environment

    /// Memory for the nodes of each store.
    private static let cacheSize = 32 << 20
    private static let suffix = ".roost"

    init(
        _ database: String, isReadOnly: Bool, transform: (any ChunkTransformFactory)?,
        environment: Environment
    ) {
        self.database = database
        self.isReadOnly = isReadOnly
        self.environment = environment
        state = Mutex(State(transform: transform))
    }

    /// The directory of the stores of the database at `path`.
    static func directory(of path: String) -> String {
        path.last == "/" ? path + "derived" : "\(path)/derived"
    }

    private var directory: String { Self.directory(of: database) }

    func path(_ name: String) -> String { "\(directory)/\(name)\(Self.suffix)" }

    // MARK: Opening

    /// The store of that name, made if there is none; `nil` in a database that was opened for reading only where there is
    /// none that can be read.
    ///
    /// A store that another process writes is opened for reading only.
    ///
    /// - Parameter name: small letters, digits and hyphens; it stands in plain sight as the name of a file.
    package func store(_ name: String) throws(DatabaseError) -> Store? {
        precondition(!name.isEmpty && name.utf8.allSatisfy { Self.isPlain($0) }, "a name of small letters")
        return try locked { (state) throws(DatabaseError) in
            if let store = state.open[name] { return writable(store, name, &state) }
            guard !state.isClosed else {
                throw DatabaseError(.closed, "The database \(database) was closed. Open it again.")
            }
            let store = try open(name, &state)
            state.open[name] = store
            return store
        }
    }

    /// The store, open for writing if another process wrote it before and has closed it since.
    private func writable(_ store: Store, _ name: String, _ state: inout State) -> Store {
        guard store.isReadOnly, !isReadOnly,
            let own = try? openStore(name, state.transform, isReadOnly: false)
        else { return store }
        try? store.close()
        state.open[name] = own
        return own
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private func open(_ name: String, _ state: inout State) throws(DatabaseError) -> Store? {
        if isReadOnly {
            return try hasDirectory() ? try? openStore(name, state.transform, isReadOnly: true) : nil
        }
        try makeDirectory()
        do throws(StoreError) {
            return try openStore(name, state.transform, isReadOnly: false)
        } catch {
            switch error.code {
            case .locked: return try? openStore(name, state.transform, isReadOnly: true)
            case .damaged, .notAStore, .unsupportedFormat, .wrongKey, .limitExceeded:
                try remove(name)
                state.discarded[name] = error.message
                let transform = state.transform
                return try translating { () throws(StoreError) in
                    try openStore(name, transform, isReadOnly: false)
                }
            default: throw DatabaseError(error)
            }
        }
    }

    private func openStore(
        _ name: String, _ transform: (any ChunkTransformFactory)?, isReadOnly: Bool
    ) throws(StoreError) -> Store {
        try Store.open(
            path(name), options: Self.options(transform: transform, isReadOnly: isReadOnly),
            environment: environment)
    }

    static func options(transform: (any ChunkTransformFactory)?, isReadOnly: Bool) -> StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.createsIfMissing = !isReadOnly
        options.durability = .unsynced
        // Merges and catching up rewrite derived data more often than documents change, and nobody waits for its compaction.
        options.compactionThreshold = 0.5
        options.cacheSize = cacheSize
        options.inlineLimit = 2048
        options.transform = transform
        return options
    }

    /// The database's key, as stores are given it.
    var transform: (any ChunkTransformFactory)? { state.withLock { $0.transform } }

    private func makeDirectory() throws(DatabaseError) {
        guard try !hasDirectory() else { return }
        // Another process may have made it just now.
        try translating { () throws(FileError) in try environment.medium.ensureDirectory(directory) }
    }

    // MARK: Removing

    /// The names of the stores there are.
    package func names() throws(DatabaseError) -> [String] {
        try files().filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
            .sorted()
    }

    /// Why stores were thrown away since the database was opened, by name.
    package var discarded: [String: String] { state.withLock { $0.discarded } }

    /// Closes the store and removes its files, which gives their space back; not those that another process writes.
    ///
    /// - Parameter reason: why it can't be read, if that is why.
    package func drop(_ name: String, becauseOf reason: String? = nil) throws(DatabaseError) {
        guard !isReadOnly else { return }
        try locked { (state) throws(DatabaseError) in
            if let reason { state.discarded[name] = reason }
            try? state.open.removeValue(forKey: name)?.close()
            try remove(name)
        }
    }

    /// Whether there is the directory, and no link to one.
    private func hasDirectory() throws(DatabaseError) -> Bool {
        let status = try translating { () throws(FileError) in try environment.medium.status(of: directory) }
        guard let kind = status?.kind else { return false }
        guard kind == .directory else {
            throw DatabaseError(
                .notADatabase,
                "\(directory) is \(kind), where a directory belongs. No link is followed inside a database: move it away."
            )
        }
        return true
    }

    /// The files of stores, with those that stand beside them for a while. Others are nobody's business.
    private func files() throws(DatabaseError) -> [String] {
        guard try hasDirectory() else { return [] }
        return try translating { () throws(FileError) in
            var files: [String] = []
            for file in try environment.medium.list(directory) where Self.isOwn(file) {
                let status = try environment.medium.status(of: "\(directory)/\(file)")
                if status?.kind == .file { files.append(file) }
            }
            return files
        }
    }

    /// Whether the name is that of a store, or a longer one.
    private static func isOwn(_ file: String) -> Bool {
        let name = file.prefix { $0 != "." }
        return !name.isEmpty && name.utf8.allSatisfy { isPlain($0) }
            && file.dropFirst(name.count).hasPrefix(suffix)
    }

    /// Removes the file and what stands beside it under longer names, unless another process writes it.
    private func remove(_ name: String) throws(DatabaseError) {
        let files = try files().filter { $0.hasPrefix(name + Self.suffix) }
        try translating { () throws(FileError) in
            var lock: (any FileLock)?
            do throws(FileError) {
                lock = try environment.medium.open(path(name), .readWrite).lock()
            } catch {
                switch error.code {
                case .locked: return
                case .notFound, .notAFile: break
                default: throw error
                }
            }
            defer { lock?.release() }
            for file in files { try environment.medium.remove("\(directory)/\(file)") }
        }
    }

    // MARK: Life

    /// Removes all stores, has `body` change the database's key, and goes on with the transform that it answers.
    ///
    /// What is derived is removed first and durably, so that nothing of an encrypted database stays behind in the clear.
    func changingKey<R>(
        to transform: (any ChunkTransformFactory)?, _ body: () throws(DatabaseError) -> R
    ) throws(DatabaseError) -> R {
        try locked { (state) throws(DatabaseError) in
            for store in state.open.values { try? store.close() }
            state.open.removeAll()
            let files = try files()
            for file in files {
                try translating { () throws(FileError) in
                    try environment.medium.remove("\(directory)/\(file)")
                }
            }
            if let file = files.first {
                try translating { () throws(FileError) in
                    try environment.medium.syncDirectory(of: "\(directory)/\(file)")
                }
            }
            let result = try body()
            state.transform = transform
            return result
        }
    }

    /// Closes all stores; none can be opened any more.
    func close() {
        let stores = state.withLock { state in
            state.isClosed = true
            state.transform = nil
            defer { state.open.removeAll() }
            return Array(state.open.values)
        }
        for store in stores { try? store.close() }
    }

    private func locked<R>(_ body: (inout State) throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        let result: Result<R, DatabaseError> = state.withLock { state in
            do throws(DatabaseError) {
                return .success(try body(&state))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

// MARK: - Looking

extension AuxiliaryStores {
    /// A store that is there, opened for reading only and beside those in use: to be looked at, so nothing of it is thrown
    /// away, whatever is wrong with it. Close it.
    ///
    /// - Throws: what keeps it from being read, such as `damaged` or `wrongKey`.
    package func storeToLook(_ name: String) throws(StoreError) -> Store {
        try Store.open(
            path(name), options: Self.options(transform: transform, isReadOnly: true),
            environment: environment)
    }

    /// Verifies every byte of a store that is there, while others use it.
    ///
    /// - Throws: what keeps the check from being made, such as `wrongKey` or `cancelled`; damage is in the report.
    package func check(
        _ name: String, _ checking: CheckOptions, progress: ProgressHandler?
    ) throws(StoreError) -> CheckReport {
        try Store.check(
            path(name), options: Self.options(transform: transform, isReadOnly: true),
            environment: environment,
            checking: checking, progress: progress)
    }

    /// How many bytes the file of a store has; 0 where there is none.
    package func fileBytes(_ name: String) throws(DatabaseError) -> UInt64 {
        try translating { () throws(FileError) in try environment.medium.status(of: path(name))?.size ?? 0 }
    }
}

// MARK: - Companions

/// What modules above keep for each open database, one object of a type, shared by all its handles.
final class Companions: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// The object of type `T`, made when it is first asked for.
    func object<T: AnyObject & Sendable>(_ make: () -> T) -> T {
        objects.withLock { objects in
            if let object = objects[ObjectIdentifier(T.self)] as? T { return object }
            let object = make()
            objects[ObjectIdentifier(T.self)] = object
            return object
        }
    }

    func removeAll() {
        let all = objects.withLock { objects in
            defer { objects.removeAll() }
            return objects
        }
        withExtendedLifetime(all) {}
    }
}

extension Database {
    /// The one object of type `T` that goes with this database while it is open, made by `make` when it is first asked for.
    ///
    /// It must not keep the database, which keeps it until the last handle is closed.
    package func companion<T: AnyObject & Sendable>(_ make: () -> T) -> T { core.companions.object(make) }

    /// The stores for what is derived from the documents.
    package var auxiliaryStores: AuxiliaryStores { core.auxiliaryStores }
}
