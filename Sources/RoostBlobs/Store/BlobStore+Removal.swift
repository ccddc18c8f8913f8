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
