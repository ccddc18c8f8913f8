import Fleece
import Foundation

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

// MARK: - Defaults

// Properties with a default, for those that are not there or are of another kind. `contains(_:)` tells a missing
// property from one that has the default's value.

extension Document {
    /// The property as an integer.
    public func int(_ key: String, default: Int = 0) -> Int { self[key].int ?? `default` }

    /// The property as a floating-point number.
    public func double(_ key: String, default: Double = 0) -> Double { self[key].double ?? `default` }

    /// The property as a truth value.
    public func bool(_ key: String, default: Bool = false) -> Bool { self[key].bool ?? `default` }

    /// The property as text; `nil` unless it is text.
    public func string(_ key: String) -> String? { self[key].string }

    /// The property as a date, from text in ISO 8601; `nil` unless it is one.
    public func date(_ key: String) -> Date? { self[key].date }
}

extension MutableDocument {
    /// The property as an integer.
    public func int(_ key: String, default: Int = 0) -> Int { self[key].int ?? `default` }

    /// The property as a floating-point number.
    public func double(_ key: String, default: Double = 0) -> Double { self[key].double ?? `default` }

    /// The property as a truth value.
    public func bool(_ key: String, default: Bool = false) -> Bool { self[key].bool ?? `default` }

    /// The property as text; `nil` unless it is text.
    public func string(_ key: String) -> String? { self[key].string }

    /// The property as a date, from text in ISO 8601; `nil` unless it is one.
    public func date(_ key: String) -> Date? { self[key].date }
}

// MARK: - DocumentMetadata

/// What JSON text says of a document besides its properties, under the names that CouchDB gives it.
///
/// ```swift
/// document.json(with: .all)     // {"_id":"n1","_rev":"1-3f…","title":"Swifts"}
/// ```
///
/// None of it is stored with the properties; saving such text takes it out again and checks it.
public struct DocumentMetadata: OptionSet, Sendable {
    /// The bits, for `OptionSet`.
    public let rawValue: UInt16

    /// A set with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `_id`: the document's name.
    public static let id = Self(rawValue: 1 << 0)
    /// `_rev`: the revision.
    public static let revision = Self(rawValue: 1 << 1)
    /// `_deleted`, of a tombstone only.
    public static let deletion = Self(rawValue: 1 << 2)
    /// `_attachments`, as stubs, where there are any; see ``Database/json(inliningAttachmentsOf:_:with:)``.
    public static let attachments = Self(rawValue: 1 << 3)

    /// With ``attachments``: the MD5 of the content as the digest, as CouchDB gives it, in place of its SHA.
    public static let md5Digests = Self(rawValue: 1 << 4)
    /// `_revisions`: the revision and its ancestors. Only ``CollectionSnapshot/json(_:_:with:)`` gives this and what follows.
    public static let revisions = Self(rawValue: 1 << 5)
    /// `_revs_info`: the same, with what is known of each: `available`, `missing` or `deleted`.
    public static let revisionsInfo = Self(rawValue: 1 << 6)
    /// `_conflicts`: the other live leaves, where there are any.
    public static let conflicts = Self(rawValue: 1 << 7)
    /// `_deleted_conflicts`: the other leaves that are tombstones, where there are any.
    public static let deletedConflicts = Self(rawValue: 1 << 8)
    /// `_local_seq`: the document's place in the changes.
    public static let localSequence = Self(rawValue: 1 << 9)

    /// What identifies a document and its content: what CouchDB sends unless it is asked for more.
    public static let all: Self = [.id, .revision, .deletion, .attachments]
}

extension Document {
    /// The properties as JSON text, with `metadata` before them: see ``json(_:)``.
    public func json(_ format: JSONFormat = .compact, with metadata: DocumentMetadata) -> String {
        String(decoding: jsonBytes(format, with: metadata), as: UTF8.self)
    }

    /// The properties as JSON text in UTF-8, with `metadata` before them: see ``json(_:)``.
    public func jsonBytes(_ format: JSONFormat = .compact, with metadata: DocumentMetadata) -> [UInt8] {
        jsonBytes(
            format, with: metadata,
            attachments: metadata.contains(.attachments) ? attachmentStubs(metadata) : [:])
    }

    /// The same, with what is to stand under `_attachments`, if there is any.
    func jsonBytes(
        _ format: JSONFormat, with metadata: DocumentMetadata, attachments: NamedValues<DocumentValue>,
        _ further: [(name: String, value: DocumentValue)] = []
    ) -> [UInt8] {
        let isPretty = format == .pretty
        let body = jsonBytes(format)
        var text: [UInt8] = []
        text.reserveCapacity(body.count + id.utf8.count + 80)
        func begin(_ name: String) {
            text += (text.isEmpty ? "{" : ",").utf8
            text += (isPretty ? "\n  \"\(name)\": " : "\"\(name)\":").utf8
        }
        func add(_ name: String, _ value: DocumentValue) {
            begin(name)
            text += value.description.utf8
        }
        if metadata.contains(.id) {
            begin(ReservedNames.id)
            text.append(jsonString: id)
        }
        if metadata.contains(.revision) {
            begin(ReservedNames.revision)
            text.append(jsonString: revision.description)
        }
        if metadata.contains(.deletion), isDeleted { add(ReservedNames.deleted, .bool(true)) }
        for (name, value) in further { add(name, value) }
        if !attachments.isEmpty { add(ReservedNames.attachments, .dictionary(attachments)) }
        guard !text.isEmpty else { return body }
        if properties.isEmpty {
            text += (isPretty ? "\n}" : "}").utf8
        } else {
            text.append(UInt8(ascii: ","))
            text += body.dropFirst()
        }
        return text
    }
}
