import RoostBlobs
import RoostStorage

extension BlobVault {
    /// How long a blob that was just stored waits for a document to name it, in microseconds.
    static let patience: UInt64 = 3600 * 1_000_000

    /// Keeps a blob that was just stored for as long as ``patience``.
    func keepAWhile(_ pin: BlobPin) {
        let now = clock.monotonic()
        recent.withLock { pins in
            pins.append((now, pin))
            Self.forget(&pins, now)
        }
    }

    /// Lets go of what has waited long enough.
    func forgetOld() {
        let now = clock.monotonic()
        recent.withLock { Self.forget(&$0, now) }
    }

    private static func forget(_ pins: inout [(time: UInt64, pin: BlobPin)], _ now: UInt64) {
        let count = pins.prefix { now >= $0.time && now - $0.time >= patience }.count
        if count > 0 { pins.removeFirst(count) }
    }
}

extension DatabaseCore {
    /// Removes the blobs that nothing names: no document as it is now, no snapshot that is open, not the oldest commit
    /// that can be gone back to, nobody who has stored one within the last hour, and no batch that is being written.
    ///
    /// Where processes take turns none is removed while another one has the database open, or has committed while blobs
    /// were looked for: it may have stored a blob, or read one as of an older commit. Who opens the database waits for
    /// the removal alone, not for the search before.
    ///
    /// - Returns: how many were removed, and the size of their files.
    @discardableResult
    func removeUnreferencedBlobs() throws(DatabaseError) -> (count: Int, bytes: UInt64) {
        if let process {
            guard try process.isAlone else { return (0, 0) }
            // Those who have left may have committed last.
            _ = try refresh()
        }
        let catchUps = store.catchUpCount
        return try vault.exclusively { () throws(DatabaseError) in
            vault.forgetOld()
            let blobs = vault.blobs
            // Pins first, then files, then documents: a document that comes after its mark has had its blobs pinned.
            blobs.beginCollection()
            defer { blobs.endCollection() }
            let unnamed = try unnamedBlobs()
            func remove() throws(DatabaseError) -> (count: Int, bytes: UInt64) {
                try translating { () throws(BlobError) in try blobs.remove(unnamed) }
            }
            guard let process else { return try remove() }
            // Also where there is nothing to remove: it takes away the signs of those who were killed.
            return try process.ifAlone { () throws(DatabaseError) in
                // Who has come meanwhile, and gone, may have named what was there.
                _ = try refresh()
                return store.catchUpCount == catchUps ? try remove() : (0, 0)
            } ?? (0, 0)
        }
    }

    private func unnamedBlobs() throws(DatabaseError) -> [BlobFile] {
        let blobs = vault.blobs
        let files = try translating { () throws(BlobError) in try blobs.files() }
        guard !files.isEmpty else { return [] }
        var marks = BlobMarks()
        for snapshot in try readableSnapshots() { try marks.mark(self, in: snapshot) }
        // What a power failure leaves must not be older than what was marked.
        try translating { () throws(StoreError) in try store.sync() }
        let named = blobs.names(of: marks.digests)
        return files.filter { !named.contains($0.name) }
    }
}
