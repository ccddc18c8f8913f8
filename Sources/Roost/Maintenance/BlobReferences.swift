import Fleece
import RoostBlobs
import RoostBytes

/// The blobs that a document's body refers to: by its attachments, and by properties that are references to blobs.
enum BlobReferences {
    /// The digests in the stored form of a body, each once. O(length of the body).
    static func digests(inBody bytes: ByteView) -> Set<BlobDigest> {
        var marks = BlobMarks()
        unsafe marks.mark(bytes.buffer)
        // Most bodies have nothing that reads like a digest, and need no decoding.
        guard !marks.digests.isEmpty, let body = try? DocumentBody(stored: bytes) else {
            return []
        }
        var found = Set(body.attachments.values.compactMap { BlobDigest($0.digest) })
        guard found != marks.digests else { return found }
        var values = [body.properties.root]
        // Shared parts of a damaged body might unfold without end.
        var left = bytes.count
        while let value = values.popLast(), left > 0 {
            left -= 1
            if let dictionary = value.dictionary {
                if let digest = Blob(value).flatMap({ BlobDigest($0.digest) }) { found.insert(digest) }
                for (_, member) in dictionary { values.append(member) }
            } else if let array = value.array {
                values.append(contentsOf: array)
            }
        }
        return found
    }
}

/// Which blobs are there, and whole.
struct BlobInventory {
    private let blobs: BlobStore
    private let present: Set<String>
    private let damaged: Set<String>

    /// - Parameter damaged: The names of files that hold not what they should.
    init(_ blobs: BlobStore, damaged: some Sequence<String>) throws(DatabaseError) {
        self.blobs = blobs
        present = Set(try translating { () throws(BlobError) in try blobs.files() }.map(\.name))
        self.damaged = Set(damaged)
    }

    /// What is wrong with a blob, as part of a sentence; `nil` when it is there and whole.
    func fault(of digest: String) -> String? {
        guard let named = BlobDigest(digest) else { return nil }
        let names = blobs.names(of: CollectionOfOne(named)).intersection(present)
        if names.isEmpty { return "its blob \(digest) is missing" }
        return names.isSubset(of: damaged) ? "its blob \(digest) is damaged" : nil
    }
}
