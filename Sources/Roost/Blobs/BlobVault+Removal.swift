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
    /// Where processes take turns none is removed while another one has the database open: it may have stored a blob, or read
    /// one as of an older commit.
    ///
    /// - Returns: how many were removed, and the size of their files.
    @discardableResult
    func removeUnreferencedBlobs() throws(DatabaseError) -> (count: Int, bytes: UInt64) {
        guard let process else { return try removeBlobs() }
        return try process.ifAlone { () throws(DatabaseError) in
            // Those who have left may have committed last.
            _ = try refresh()
            return try removeBlobs()
        } ?? (0, 0)
    }

    private func removeBlobs() throws(DatabaseError) -> (count: Int, bytes: UInt64) {
        try vault.exclusively { () throws(DatabaseError) in
            vault.forgetOld()
            let blobs = vault.blobs
            // Pins first, then files, then documents: a document that comes after its mark has had its blobs pinned.
            blobs.beginCollection()
            defer { blobs.endCollection() }
            let files = try translating { () throws(BlobError) in try blobs.files() }
            guard !files.isEmpty else { return (0, 0) }
            var marks = BlobMarks()
            for snapshot in try readableSnapshots() { try marks.mark(self, in: snapshot) }
            // What a power failure leaves must not be older than what was marked.
            try translating { () throws(StoreError) in try store.sync() }
            let named = blobs.names(of: marks.digests)
            return try translating { () throws(BlobError) in
                try blobs.remove(files.filter { !named.contains($0.name) })
            }
        }
    }
}
