import RoostBytes
import RoostFile

/// What an enumeration tells of a blob.
package struct BlobEntry: Sendable {
    package let digest: BlobDigest
    /// The length of the content in bytes.
    package let length: UInt64
    package let encoding: BlobEncoding
    /// The length of what is stored, without what encryption adds.
    package let storedLength: UInt64
}

/// What a verification of all blobs found.
package struct BlobVerification: Sendable {
    package var count = 0
    package var bytes: UInt64 = 0
    /// What is wrong, with the file's name.
    package var damaged: [(name: String, reason: String)] = []
}

extension BlobStore {
    /// The files of all blobs, in no particular order. O(number of blobs) in time and memory.
    package func files() throws(BlobError) -> [BlobFile] {
        let layouts = state.withLock { $0.layouts }
        guard try exists() else { return [] }
        let names = try RoostBlobs.medium { () throws(FileError) in try medium.list(directory) }
        return names.compactMap { name in
            layouts.first { $0.owns(name) }.map { BlobFile(name: name, layout: $0) }
        }
    }

    /// The names that the files of these blobs can have.
    package func names(of digests: some Sequence<BlobDigest>) -> Set<String> {
        let layouts = state.withLock { $0.layouts }
        return Set(digests.flatMap { digest in layouts.flatMap { $0.names(of: digest) } })
    }

    /// Calls `body` with each blob, in the order of their files' names; those that are damaged are passed over.
    package func forEach(_ body: (BlobEntry) throws(BlobError) -> Void) throws(BlobError) {
        for file in try files().sorted(by: { $0.name < $1.name }) {
            guard let reader = try? file.open(in: self) else { continue }
            try body(
                BlobEntry(
                    digest: reader.digest, length: reader.length, encoding: reader.encoding,
                    storedLength: reader.storedLength))
        }
    }

    /// Removes files of blobs, except those that are pinned. A writer pins a blob before it looks whether it is there, so
    /// the one or the other sees it.
    ///
    /// - Returns: how many were removed, and the size of their files.
    package func remove(_ files: some Sequence<BlobFile>) throws(BlobError) -> (count: Int, bytes: UInt64) {
        var removed: (count: Int, bytes: UInt64) = (0, 0)
        for file in files {
            let size: Result<UInt64?, FileError> = state.withLock { state in
                let isPinned =
                    state.pinnedNames.contains(file.name) || state.keptNames?.contains(file.name) == true
                if isPinned, !BlobFailpoint.forgottenPins.isActive { return .success(nil) }
                do throws(FileError) {
                    let size = try medium.status(of: path(file.name))?.size
                    if size != nil { try medium.remove(path(file.name)) }
                    return .success(size)
                } catch {
                    return .failure(error)
                }
            }
            if let size = try RoostBlobs.medium({ () throws(FileError) in try size.get() }) {
                removed.count += 1
                removed.bytes += size
            }
        }
        return removed
    }

    /// Reads every blob and compares it with its digest.
    ///
    /// - Parameter progress: Called after each blob with the number done and that of all; returns `false` to stop.
    /// - Throws: `cancelled`, `inputOutput`; damage does not throw.
    package func verify(
        _ progress: (Int, Int) -> Bool = { _, _ in true }
    ) throws(BlobError) -> BlobVerification {
        let files = try files().sorted { $0.name < $1.name }
        var found = BlobVerification()
        for file in files {
            do throws(BlobError) {
                // One that has gone meanwhile was removed by whoever may do that.
                guard let reader = try file.open(in: self) else { continue }
                try reader.verify()
                found.bytes += reader.length
            } catch {
                guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
                found.damaged.append((file.name, error.message))
            }
            found.count += 1
            guard progress(found.count, files.count) else {
                throw BlobError(.cancelled, "The verification of the blobs was cancelled.")
            }
        }
        return found
    }
}

// MARK: - BlobHold

/// Content that a writer has stored for a document that is not saved yet, and that may be refused.
///
/// When the last hold of a blob ends, the blob is removed if it was stored under a hold, no batch that was committed names it, and no
/// pin keeps it. So what was sent with a refused request goes with the request. Where other processes write the store they may
/// have named it, and it is left to a collection.
package final class BlobHold: Sendable {
    private let store: BlobStore
    private let digest: BlobDigest

    fileprivate init(_ store: BlobStore, _ digest: BlobDigest) {
        self.store = store
        self.digest = digest
    }

    deinit { store.endHold(digest) }
}

extension BlobStore.State {
    /// A blob under a hold.
    struct HeldBlob {
        var holds = 0
        /// Whether it was not there before.
        var isNew = false
        /// Whether a batch that was committed names it.
        var isNamed = false
    }
}

extension BlobStore {
    /// Holds a blob that is about to be stored. It is pinned meanwhile.
    func hold(_ digest: BlobDigest) -> BlobHold {
        state.withLock { state in
            state.addPin(digest)
            state.held[digest, default: State.HeldBlob()].holds += 1
        }
        return BlobHold(self, digest)
    }

    /// Notes that a blob under a hold was not there before.
    func noteNew(_ digest: BlobDigest) { state.withLock { $0.held[digest]?.isNew = true } }

    /// Notes that documents name these blobs now. They are still pinned.
    package func name(_ digests: some Sequence<BlobDigest>) {
        state.withLock { state in
            guard !state.held.isEmpty else { return }
            for digest in digests { state.held[digest]?.isNamed = true }
        }
    }

    fileprivate func endHold(_ digest: BlobDigest) {
        state.withLock { state in
            state.removePin(digest)
            guard var blob = state.held[digest] else { return }
            blob.holds -= 1
            guard blob.holds == 0 else {
                state.held[digest] = blob
                return
            }
            state.held[digest] = nil
            guard blob.isNew, !blob.isNamed, state.pins[digest] == nil, !state.isClosed, !isShared else {
                return
            }
            for layout in state.layouts {
                for name in layout.names(of: digest) {
                    // What can't be removed now goes with the next collection.
                    let isThere = (try? medium.status(of: path(name))) != nil
                    if isThere { try? medium.remove(path(name)) }
                    state.arriving.remove(name)
                }
            }
        }
    }
}

// MARK: - Conversion

extension BlobStore {
    /// Writes every blob that is in another layout than new ones are anew and removes its old file.
    ///
    /// A crash leaves each blob in one layout or both, so that it is found by a store that has both; calling this again
    /// ends the work. Plain content is compared with its digest on the way: what is damaged is encrypted as it is, so that
    /// nothing is left in the clear, and marked, so that nobody takes it for authentic. An encrypted blob that cannot be
    /// read stays where it is; so does what is no file.
    ///
    /// - Returns: the names of the files that could not be read.
    package func convert() throws(BlobError) -> [String] {
        let target = layout
        var unreadable: [String] = []
        for file in try files() where !target.owns(file.name) {
            do throws(BlobError) {
                guard try convert(file, to: target) else { continue }
            } catch {
                guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
                unreadable.append(file.name)
                continue
            }
            try RoostBlobs.medium { () throws(FileError) in try medium.remove(path(file.name)) }
        }
        if try exists() {
            try RoostBlobs.medium { () throws(FileError) in try medium.syncDirectory(of: incoming) }
        }
        return unreadable
    }

    /// Converts one file, if it is one; `false` when there is nothing to remove.
    private func convert(_ file: BlobFile, to target: BlobLayout) throws(BlobError) -> Bool {
        let status = try RoostBlobs.medium { () throws(FileError) in try medium.status(of: path(file.name)) }
        guard let status, status.kind == .file, let stored = try file.openStored(in: self) else {
            return false
        }
        // Whoever has put the same content again since has done the work; and may have mended it.
        let new = BlobFile(name: target.name(of: stored.digest, stored.encoding), layout: target)
        if let done = try? new.open(in: self) {
            let isWhole = done.isAuthenticated ? true : try done.isWhole()
            if isWhole {
                try secure(new)
                return true
            }
        }
        try rewrite(stored.source, try facts(of: stored), as: target, status.access)
        return true
    }

    /// What the header of an encrypted file says of `stored`.
    private func facts(of stored: StoredBlob) throws(BlobError) -> SealedFacts {
        var facts = SealedFacts(
            digest: stored.digest, encoding: stored.encoding, storedLength: stored.source.length,
            contentLength: stored.contentLength ?? stored.source.length)
        facts.isDamaged = stored.isDamaged
        guard !stored.isAuthenticated else { return facts }
        do throws(BlobError) {
            let reader = try BlobFileReader(stored)
            facts.contentLength = reader.length
            facts.isDamaged = try !reader.isWhole()
        } catch {
            guard error.code == .damaged else { throw error }
            facts.isDamaged = true
        }
        return facts
    }

    /// Copies what is stored of a blob into a file of another layout.
    private func rewrite(
        _ source: any ByteSource, _ facts: SealedFacts, as target: BlobLayout, _ access: FileAccess
    ) throws(BlobError) {
        let (file, temporary) = try makeTemporary(access)
        do throws(BlobError) {
            let sink = target.makeSink(file)
            let buffer = ByteBuffer(capacity: 256 << 10)
            var offset: UInt64 = 0
            while offset < source.length {
                buffer.resize(to: Int(min(256 << 10, source.length - offset)))
                unsafe try source.read(into: buffer.mutableBytes, at: offset)
                unsafe try sink.write(buffer.view.buffer)
                offset += UInt64(buffer.count)
            }
            try sink.finish(facts)
            try RoostBlobs.medium { () throws(FileError) in try file.sync() }
            try give(target.name(of: facts.digest, facts.encoding), to: temporary)
        } catch {
            try? medium.remove(temporary)
            throw error
        }
    }
}
