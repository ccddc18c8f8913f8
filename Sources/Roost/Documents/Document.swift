import Fleece

/// One revision of a document, as it was when it was read: an immutable value.
///
/// Its properties are read where they are; nothing is decoded that is not asked for:
///
/// ```swift
/// let document = try notes.document("n1")
/// document?["address"]["street"].string     // nil without address, street, or when it is no string
/// document?[path: "phones[0]"].string
/// ```
///
/// Copying is cheap, and a document can be used from any number of tasks at once. It holds its body in memory for as
/// long as it is held.
public struct Document: Sendable, Identifiable {
    /// The document's name in its collection.
    public let id: String
    /// The revision that this is.
    public let revision: RevisionID
    /// The place in the collection's changes at which the document stood when it was read. Two documents of one
    /// collection never have the same.
    public let sequence: UInt64
    /// Whether the revision says that the document is deleted: a tombstone.
    public let isDeleted: Bool
    /// Whether the document had more than one live leaf; see ``CollectionSnapshot/conflicts(of:)``.
    public let isConflicted: Bool
    /// Whether the document had more than one leaf, live or deleted.
    package let hasSeveralLeaves: Bool

    let body: DocumentBody

    init(
        id: String, revision: RevisionID, sequence: UInt64, flags: StoredDocument.Flags, body: DocumentBody
    ) {
        self.id = id
        self.revision = revision
        self.sequence = sequence
        isDeleted = flags.contains(.deleted)
        isConflicted = flags.contains(.conflicted)
        hasSeveralLeaves = flags.contains(.severalLeaves)
        self.body = body
    }

    /// The document's own properties, without `_id` and `_rev`.
    public var properties: FleeceDictionary { body.dictionary }

    /// The body that holds the properties.
    package var fleece: FleeceDocument { body.properties }

    /// All properties as one value.
    public var value: FleeceValue { body.properties.root }

    /// The value of a property; `FleeceValue.undefined` when there is none. O(log n).
    public subscript(key: String) -> FleeceValue { body.properties[key] }

    /// The value that `path` leads to, as in `document[path: "phones[0].kind"]`; undefined if it leads nowhere.
    public subscript(path path: FleecePath) -> FleeceValue { body.properties[path: path] }

    /// Whether there is a property of that name, be it null.
    public func contains(_ key: String) -> Bool { self[key].exists }

    /// The names of the properties, in byte order.
    public var keys: [String] { properties.keys }

    /// The properties as JSON text, which says all that the document does: integers of 64 bits stay integers, 1.0 stays
    /// a floating-point number.
    public func json(_ format: JSONFormat = .compact) -> String { value.json(format) }

    /// The properties as JSON text in UTF-8: see ``json(_:)``.
    public func jsonBytes(_ format: JSONFormat = .compact) -> [UInt8] { value.jsonBytes(format) }
}

extension Document {
    /// The properties decoded as a `T`. The `id` of an `Identifiable` type is the document's ID.
    ///
    /// Unlike a ``Versioned`` value, it does not know its revision.
    ///
    /// - Throws: `decodingFailed` when they are not those of a `T`, with the reason as the underlying error.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(DatabaseError) -> T {
        do {
            var decoder = FleeceDecoder()
            if T.self is any Identifiable.Type { decoder.identifier = id }
            return try decoder.decode(type, from: value)
        } catch {
            throw DatabaseError(
                .decodingFailed,
                "The document \(DatabaseError.quoted(id)) cannot be read as a \(type). \(error.sentence)",
                underlyingError: error)
        }
    }
}

extension Document: Equatable, Hashable {
    /// Whether both are the same revision of the document with the same ID: such have the same properties, too.
    public static func == (left: Self, right: Self) -> Bool {
        left.revision == right.revision && left.id.utf8.elementsEqual(right.id.utf8)
    }

    /// Hashes ID and revision.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(revision)
        hasher.combine(id)
    }
}

extension Document: CustomStringConvertible {
    /// ID, revision and properties: `n1 at 1-3f…: {"title":"Swifts"}`.
    public var description: String {
        "\(id) at \(revision)\(isDeleted ? ", deleted" : ""): \(json())"
    }
}
