import RoostBlobs
import RoostBytes
import RoostStorage

/// The blobs that anything in a database names.
///
/// Whatever reads like a digest counts, in whichever body and property: rather a blob too many stays than one too few.
struct BlobMarks {
    private(set) var digests: Set<BlobDigest> = []

    /// Marks what the documents of all collections name, those that lost conflicts and local ones among them. Reads
    /// every body; holds one at a time in memory.
    mutating func mark(_ core: DatabaseCore, in snapshot: Snapshot) throws(DatabaseError) {
        for (_, trees) in try core.collections(in: snapshot) {
            try mark(trees.documents, in: snapshot)
            try mark(trees.extras, in: snapshot)
        }
    }

    private mutating func mark(_ tree: Tree, in snapshot: Snapshot) throws(DatabaseError) {
        let cursor = try translating { () throws(StoreError) in try snapshot[tree].cursor() }
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            let value = try translating { () throws(StoreError) in try cursor.valueView() }
            unsafe mark(value.buffer)
        }
        // A digest that was not seen would cost its blob.
        try translating { () throws(StoreError) in try cursor.checkMapping() }
    }

    /// Marks the digests in `bytes`: texts in Fleece and JSON stand there as they are.
    mutating func mark(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index + Self.shortest <= bytes.count {
            guard unsafe bytes[index] == UInt8(ascii: "s"), unsafe bytes[index + 1] == UInt8(ascii: "h"),
                unsafe bytes[index + 2] == UInt8(ascii: "a")
            else {
                index += 1
                continue
            }
            for length in [Self.shortest, Self.longest] where index + length <= bytes.count {
                let text = unsafe bytes[index..<index + length]
                if let digest = unsafe BlobDigest(String(decoding: text, as: UTF8.self)) {
                    digests.insert(digest)
                }
            }
            index += 3
        }
    }

    /// The length of `sha1-` and 20 bytes in base64.
    private static let shortest = 5 + 28
    /// The length of `sha256-` and 32 bytes in base64.
    private static let longest = 7 + 44
}
