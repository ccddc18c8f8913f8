import RoostFile

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
