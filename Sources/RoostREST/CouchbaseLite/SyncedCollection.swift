import Roost
import RoostBLIP
import RoostSync
import Synchronization

/// A collection that a Couchbase Lite client syncs with over one connection.
final class SyncedCollection: Sendable {
    /// The database as the client may use it.
    let target: DatabaseContext
    /// What the client lets messages name it by; `nil` where it knows no collections.
    let index: Int?
    /// What the client was let in by.
    let lease: AccessLease
    /// The revisions that were sent and have no answer yet, with the digests of their blobs, by document.
    private let sent = Mutex<[ByteKey: (revision: RevisionID, digests: Set<ByteKey>)]>([:])

    init(_ target: DatabaseContext, index: Int?) {
        self.target = target
        self.index = index
        lease = AccessLease(target, dependsOnChannels: false)
    }

    /// A request about the collection.
    func message(_ profile: String, _ properties: BLIPProperties = [:], body: [UInt8] = []) -> BLIPMessage {
        var properties = properties
        properties["Profile"] = profile
        if let index { properties["collection"] = String(index) }
        return BLIPMessage(properties, body: body)
    }

    // MARK: Blobs that the client may fetch

    /// Notes a revision that is being sent.
    func note(_ id: String, _ revision: RevisionID, _ digests: Set<ByteKey>) {
        guard !digests.isEmpty else { return }
        sent.withLock { $0[ByteKey(id)] = (revision, digests) }
    }

    /// Forgets a revision that was answered.
    func forget(_ id: String, _ revision: RevisionID) {
        sent.withLock { sent in
            if sent[ByteKey(id)]?.revision == revision { sent[ByteKey(id)] = nil }
        }
    }

    /// Whether a document that the client sees has a blob.
    ///
    /// - Parameter id: The document; `nil` where the client speaks a version that does not name it.
    func shows(_ digest: String, of id: String?) throws -> Bool {
        let visibility = try target.visibility(of: try target.collection.snapshot())
        let digest = ByteKey(digest)
        let candidates = sent.withLock { sent in
            sent.filter { entry in
                (id.map { ByteKey($0) == entry.key } ?? true) && entry.value.digests.contains(digest)
            }
        }
        for (key, entry) in candidates where try visibility.sees(key.text, entry.revision) { return true }
        guard let id, let document = try visibility.winner(id) else { return false }
        return BlobReferences(document).digests.contains(digest)
    }
}
