import RoostCrypto
import RoostFile
import Synchronization

// # The blob store
//
// A directory of blobs, one file each, named by what they contain:
//
//     blobs/2jmj7l5rSw0yVb_vlWAYkK_YBwk=.blob      a plain blob; .gz if it is stored as gzip
//     blobs/9f0c…40 digits….sealed                  an encrypted one
//     blobs/incoming/                               files being written
//
// A file under a blob's name is whole: it was written in `incoming`, synced, renamed, and the directory synced before
// its writer was told. It is never changed afterwards, only replaced by another of the same content, or removed.
//
// No link is followed, and nothing is touched that does not have a name that Roost gives: a directory that came from
// elsewhere may hold anything.

/// A directory of content-addressed blobs. Any thread may use it at any time; other processes may write where it is shared.
package final class BlobStore: Sendable {
    /// The directory. It is made with the first blob.
    package let directory: String
    let environment: Environment
    /// Who may do what with new files; `nil` for what the process's umask leaves.
    package let access: FileAccess?
    /// Whether other processes may write blobs, too.
    let isShared: Bool
    let state: Mutex<State>

    struct State {
        /// The layouts that blobs may be in, that of new ones first.
        var layouts: [BlobLayout]
        /// How often each blob is pinned.
        var pins: [BlobDigest: Int] = [:]
        /// The names that the files of pinned blobs have or may get.
        var pinnedNames: Set<String> = []
        /// What was stored for documents that are not saved yet.
        var held: [BlobDigest: HeldBlob] = [:]
        /// During a collection, the names of all files that were pinned at any time of it.
        var keptNames: Set<String>?
        /// Whether the directory is known to be there, durably.
        var hasDirectory = false
        /// Names that files were given and no sync has covered since.
        var arriving: Set<String> = []
        /// Whether the directory was synced since the store was made, and with it the names that were there before.
        var hasSynced = false
        /// How many syncs of the directory have failed.
        var failedSyncs = 0
        /// How often new blobs got another kind of layout.
        var generation = 0
        /// Whether a file that is not encrypted counts only after its content was compared with its digest.
        var distrustsPlain = false
        var isClosed = false
    }

    /// The blobs in `directory`, which need not exist.
    package init(
        _ directory: String, _ layout: BlobLayout, environment: Environment, access: FileAccess? = nil,
        isShared: Bool = false
    ) {
        self.directory = directory
        self.access = access
        self.isShared = isShared
        self.environment = environment
        state = Mutex(State(layouts: [layout]))
    }

    var medium: any Medium { environment.medium }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    var incoming: String { path("incoming") }

    /// The layout of new blobs.
    package var layout: BlobLayout { state.withLock { $0.layouts[0] } }

    /// The layouts that blobs may be in, that of new ones first.
    package var layouts: [BlobLayout] { state.withLock { $0.layouts } }

    /// Sets the layouts that blobs may be in, that of new ones first. Writers that have begun a blob in a layout of
    /// another kind can't install it any more.
    ///
    /// - Parameter distrustsPlain: Whether plain files are read only after their content was compared with the digest, as
    ///   is due while a database is being encrypted: anybody could have put them there.
    package func setLayouts(_ layouts: [BlobLayout], distrustsPlain: Bool = false) {
        precondition(!layouts.isEmpty)
        state.withLock { state in
            if !state.layouts[0].isSameKind(as: layouts[0]) { state.generation += 1 }
            state.layouts = layouts
            state.distrustsPlain = distrustsPlain
            state.pinnedNames = []
            for digest in state.pins.keys { state.protect(digest) }
        }
    }

    /// Lets go of all keys. Who reads a blob goes on; nothing else can be done any more.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.layouts = [.plain]
        }
    }

    func checkOpen() throws(BlobError) {
        if state.withLock({ $0.isClosed }) { throw .storeClosed }
    }

    /// Whether there is a directory of blobs yet.
    ///
    /// - Throws: `foreign` when something else has its name, or that of `incoming`.
    package func exists() throws(BlobError) -> Bool {
        guard try isDirectory(directory) else { return false }
        _ = try isDirectory(incoming)
        return true
    }

    /// Whether there is a directory at `path`, and not a link to one.
    private func isDirectory(_ path: String) throws(BlobError) -> Bool {
        let status = try RoostBlobs.medium { () throws(FileError) in try medium.status(of: path) }
        guard let kind = status?.kind else { return false }
        guard kind == .directory else {
            throw BlobError(
                .foreign,
                "\(path) is \(kind), where a directory of blobs belongs. No link is followed inside a database: put "
                    + "the directory itself there, or move away what is there.")
        }
        return true
    }

    /// Removes what writers left behind that a crash ended. Nobody may be writing.
    package func sweep() throws(BlobError) {
        guard try exists(), try isDirectory(incoming) else { return }
        try RoostBlobs.medium { () throws(FileError) in
            for name in try medium.list(incoming) where BlobName.isTemporary(name) {
                let path = "\(incoming)/\(name)"
                if try medium.status(of: path)?.kind == .file { try medium.remove(path) }
            }
        }
    }

    // MARK: Reading

    /// Opens a blob; `nil` when there is none.
    package func open(_ digest: BlobDigest) throws(BlobError) -> BlobFileReader? {
        // A conversion may have removed the file that was found, once it had written the other one.
        for _ in 0..<2 {
            guard let file = try find(digest) else { return nil }
            guard let reader = try file.open(in: self) else { continue }
            guard reader.digest == digest else {
                throw BlobError.damaged(path(file.name), "it holds another blob than its name says")
            }
            if !reader.isAuthenticated, state.withLock({ $0.distrustsPlain }) {
                try reader.verify()
                reader.position = 0
            }
            return reader
        }
        return nil
    }

    /// Whether there is such a blob. Does not look into its file.
    package func contains(_ digest: BlobDigest) throws(BlobError) -> Bool { try find(digest) != nil }

    /// The file of a blob.
    func find(_ digest: BlobDigest) throws(BlobError) -> BlobFile? {
        try checkOpen()
        guard try exists() else { return nil }
        let layouts = state.withLock { $0.layouts }
        // A conversion writes the new file before it removes the old one, so what moved away from under the first
        // look is there at the second.
        for layout in layouts + layouts.dropLast() {
            for name in layout.names(of: digest) {
                let status = try RoostBlobs.medium { () throws(FileError) in
                    try medium.status(of: path(name))
                }
                if status != nil { return BlobFile(name: name, layout: layout) }
            }
        }
        return nil
    }

    // MARK: Pins

    /// Keeps a blob from being removed for as long as the result lives, whether it is there yet or not.
    package func pin(_ digest: BlobDigest) -> BlobPin {
        state.withLock { $0.addPin(digest) }
        return BlobPin(self, digest)
    }

    /// Begins a collection of blobs that nobody refers to, one at a time: from now on to its end ``remove(_:)`` spares
    /// also what was pinned when it began, or was pinned and let go since. Who looks for references afterwards finds
    /// those of everybody who has let go before.
    package func beginCollection() { state.withLock { $0.keptNames = $0.pinnedNames } }

    /// Ends the collection.
    package func endCollection() { state.withLock { $0.keptNames = nil } }

    fileprivate func unpin(_ digest: BlobDigest) { state.withLock { $0.removePin(digest) } }
}

extension BlobStore.State {
    mutating func addPin(_ digest: BlobDigest) {
        pins[digest, default: 0] += 1
        protect(digest)
    }

    mutating func removePin(_ digest: BlobDigest) {
        guard let count = pins[digest] else { return }
        pins[digest] = count > 1 ? count - 1 : nil
        if count == 1 { unprotect(digest) }
    }

    fileprivate mutating func protect(_ digest: BlobDigest) {
        for layout in layouts {
            let names = layout.names(of: digest)
            pinnedNames.formUnion(names)
            keptNames?.formUnion(names)
        }
    }

    fileprivate mutating func unprotect(_ digest: BlobDigest) {
        for layout in layouts { pinnedNames.subtract(layout.names(of: digest)) }
    }
}

/// Keeps a blob that nothing refers to yet from being removed.
package final class BlobPin: Sendable {
    private let store: BlobStore
    private let digest: BlobDigest

    fileprivate init(_ store: BlobStore, _ digest: BlobDigest) {
        self.store = store
        self.digest = digest
    }

    deinit { store.unpin(digest) }
}

// MARK: - Names

/// How blobs get their names, and when those are durable.
///
/// After a sync of a directory that failed a later one proves nothing: the system may have forgotten what it was to write, and go on
/// showing it. So names that such a sync was to cover are taken away again, and whoever waited for one of them fails.
extension BlobStore {
    /// A new file in `incoming`, whose directories are made where they are missing.
    ///
    /// - Parameter access: who may do what with the file.
    func makeTemporary(_ access: FileAccess?) throws(BlobError) -> (any File, String) {
        try checkOpen()
        try makeDirectories()
        let path = "\(incoming)/\(BlobName.temporary(environment.randomness))"
        let mode = access.map { OpenMode.createWith($0) } ?? .createNew
        return (try RoostBlobs.medium { () throws(FileError) in try medium.open(path, mode) }, path)
    }

    /// Makes the store's directories where they are missing, durably.
    func makeDirectories() throws(BlobError) {
        if try exists(), state.withLock({ $0.hasDirectory }) { return }
        // One at a time: nobody may build on a directory that is taken away because it could not be made durable.
        let result: Result<Void, FileError> = state.withLock { state in
            do throws(FileError) {
                try medium.ensureDirectory(directory, access?.ofDirectory)
                try medium.ensureDirectory(incoming, access?.ofDirectory)
                state.hasDirectory = true
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try RoostBlobs.medium { () throws(FileError) in try result.get() }
    }

    /// Gives a file that is whole and synced its name, durably, in the place of one that has it; the blob has been pinned.
    ///
    /// - Returns: how the blob was stored before, and whether it stays so because that is another encoding.
    func install(
        _ temporary: String, _ digest: BlobDigest, _ encoding: BlobEncoding, _ layout: BlobLayout,
        _ generation: Int, length: UInt64
    ) throws(BlobError) -> (present: BlobFileReader?, stays: Bool) {
        let old = try find(digest).flatMap { layout.owns($0.name) ? $0 : nil }
        let name = layout.name(of: digest, encoding)
        var present: BlobFileReader?
        do throws(BlobError) {
            present = try old?.open(in: self)
        } catch {
            // What the medium can't show now may be good, and is not removed. A damaged file gives its place.
            let isDamaged = error.code == .damaged || error.code == .unsupportedFormat
            guard isDamaged || old?.name == name else { throw error }
        }
        if present?.length != length { present = nil }
        // Documents say how a blob is stored, so one that is good stays as it is.
        if let old, let present, present.encoding != encoding, try present.isWhole() {
            try secure(old)
            return (present, stays: true)
        }
        try give(name, to: temporary, generation)
        if let old, old.name != name {
            try RoostBlobs.medium { () throws(FileError) in try medium.remove(path(old.name)) }
        }
        return (present, stays: false)
    }

    /// Gives a file that is whole and synced its name, durably.
    ///
    /// - Parameter generation: That of the layouts when the file was begun. Where new blobs have got another kind of layout
    ///   since, it is refused: in a database that was encrypted meanwhile it would stay in the clear. `nil` for a file that
    ///   is written for the present layouts.
    func give(_ name: String, to temporary: String, _ generation: Int? = nil) throws(BlobError) {
        let result: Result<Int, BlobError> = state.withLock { state in
            guard !state.isClosed else { return .failure(.storeClosed) }
            guard generation ?? state.generation == state.generation else {
                return .failure(
                    BlobError(
                        .closed,
                        "The store was encrypted or decrypted while the blob was being written. Write it again."
                    ))
            }
            do throws(FileError) {
                let isNew = try medium.status(of: path(name)) == nil
                try medium.rename(temporary, to: path(name))
                if isNew { state.arriving.insert(name) }
                return .success(state.failedSyncs)
            } catch {
                return .failure(BlobError(error))
            }
        }
        try sync(name, since: try result.get())
    }

    /// Makes a blob durable that is there, before something durable names it: whoever put it there may not have synced its
    /// name yet, or have died before.
    ///
    /// - Throws: `notFound` when it has gone, `inputOutput`.
    package func secure(_ digest: BlobDigest) throws(BlobError) {
        guard let file = try find(digest) else {
            throw BlobError(.notFound, "The blob \(digest) has been removed. Store it again.")
        }
        try secure(file)
    }

    func secure(_ file: BlobFile) throws(BlobError) {
        let (isSecure, failedSyncs) = state.withLock { state in
            (state.hasSynced && !isShared && !state.arriving.contains(file.name), state.failedSyncs)
        }
        if !isSecure { try sync(file.name, since: failedSyncs) }
    }

    /// Makes a name durable that was seen when so many syncs had failed.
    private func sync(_ name: String, since failedSyncs: Int) throws(BlobError) {
        if BlobFailpoint.unsyncedName.isActive { return }
        do throws(FileError) {
            try medium.syncDirectory(of: path(name))
        } catch {
            state.withLock { state in
                state.failedSyncs += 1
                for name in state.arriving { try? medium.remove(path(name)) }
                state.arriving = []
            }
            throw BlobError(error)
        }
        let isDurable = state.withLock { state in
            guard state.failedSyncs == failedSyncs else { return false }
            state.arriving.remove(name)
            state.hasSynced = true
            return true
        }
        guard isDurable else {
            throw BlobError(
                .inputOutput,
                "The directory \(directory) could not be synced while a blob was stored in it. Store the blob again."
            )
        }
    }
}
