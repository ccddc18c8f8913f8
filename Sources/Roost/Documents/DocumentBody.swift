import Fleece
import RoostBytes
import RoostCrypto

/// The properties of a revision, in the form in which they are stored.
///
/// In the file a body is one byte that names its format, ``fleece`` for all that is written today, and the bytes of
/// that format.
struct DocumentBody: Sendable {
    /// Fleece, without shared keys.
    static let fleece: UInt8 = 1

    /// The properties, a dictionary.
    let properties: FleeceDocument

    /// No properties: what a tombstone has.
    static let empty: Self = {
        // A dictionary without keys in the two bytes of a narrow value; see Fleece.md.
        Self(properties: FleeceDocument(trusting: [0x70, 0x00]))
    }()

    /// The properties. A body is a dictionary when it is stored; should its bytes be damaged, it reads as an empty one.
    var dictionary: FleeceDictionary { properties.root.dictionary ?? .empty }

    private init(properties: FleeceDocument) {
        self.properties = properties
    }

    /// A new body.
    ///
    /// - Throws: `invalidDocument` when it is no dictionary.
    init(new properties: FleeceDocument) throws(DatabaseError) {
        guard properties.root.kind == .dictionary else {
            throw DatabaseError(
                .invalidDocument,
                "A document is a JSON object, and this is a value of the kind \(properties.root.kind). "
                    + "Put it into a property of an object.")
        }
        self.properties = properties
    }

    /// A body as it was stored.
    init(stored bytes: ArraySlice<UInt8>) throws(DatabaseError) {
        guard let format = bytes.first else { throw DatabaseError.damaged("The body of a document") }
        guard format == Self.fleece else {
            throw DatabaseError(
                .unsupportedFormat,
                "A document has a body of format \(format), and this Roost reads format \(Self.fleece). Use a newer "
                    + "Roost.")
        }
        properties = FleeceDocument(trusting: bytes.dropFirst())
    }

    /// Appends the stored form.
    func append(to bytes: inout [UInt8]) {
        bytes.append(Self.fleece)
        bytes.append(contentsOf: properties.bytes)
    }

    /// Writes the stored form over `buffer`.
    func store(in buffer: ByteBuffer) {
        buffer.reset(keeping: 1 << 20)
        buffer.append(Self.fleece)
        unsafe properties.bytes.withUnsafeBytes { unsafe buffer.append(ByteView($0)) }
    }
}

extension DocumentBody {
    /// The digest of a revision's ID: the first 16 bytes of the SHA-256 of
    ///
    ///     length       1 byte   of the parent, 0 for a document's first revision
    ///     parent       bytes    the parent revision's compact form
    ///     deleted      1 byte   1 for a tombstone, else 0
    ///     attachments  varint   how many attachments follow, by name in byte order; each is its name and its digest,
    ///                           both with their lengths as varints before them
    ///     body         rest     the properties as canonical JSON: keys in byte order, no spaces, floating-point numbers
    ///                           with the shortest digits that read the same and always a fraction or an exponent
    ///
    /// The same edit is thus the same revision wherever it is made. Nobody recomputes the digests of others.
    func digest(parent: RevisionID?, isDeleted: Bool) -> RevisionDigest {
        var head: [UInt8] = []
        head.reserveCapacity(48)
        if let parent { parent.appendPrefixed(to: &head) } else { head.append(0) }
        head.append(isDeleted ? 1 : 0)
        head.append(0)
        var hash = SHA256()
        hash.update(head)
        hash.update(properties.root.jsonBytes(.canonical))
        return unsafe hash.finalize().withUnsafeBytes { bytes in
            let words = unsafe bytes.assumingMemoryBound(to: UInt8.self)
            return unsafe RevisionDigest(words.span, at: 0, count: RevisionDigest.ownLength)
        }
    }
}
