import Fleece
import Foundation

/// A value of a Codable type as it was read from a document, and the revision that it was read at.
///
/// Its properties are those of the value:
///
/// ```swift
/// if var note = try notes.document("swifts", as: Note.self) {
///     note.stars += 1                  // note.value.stars
///     try notes.save(&note)            // `conflict` if somebody has saved the document since
/// }
/// ```
///
/// So an edit that was based on an older state never replaces a newer one unnoticed.
@dynamicMemberLookup
public struct Versioned<Value> {
    /// The document's ID in its collection.
    public let id: String
    /// The revision that the value was read or saved at last. A transaction that was rolled back leaves the one from before.
    public var revision: RevisionID {
        guard let revision = origin.revision else {
            preconditionFailure("a value that was read has a revision")
        }
        return revision
    }
    /// The document that the value was read from, and its revision.
    public var origin: DraftOrigin
    /// The value itself, to be read and changed.
    public var value: Value

    /// A property of the value.
    public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Member {
        value[keyPath: member]
    }

    /// A property of the value.
    public subscript<Member>(dynamicMember member: WritableKeyPath<Value, Member>) -> Member {
        get { value[keyPath: member] }
        set { value[keyPath: member] = newValue }
    }
}

extension Versioned where Value: Decodable {
    /// What a document's properties decode to; see ``Document/decode(_:)``.
    ///
    /// - Throws: `decodingFailed`.
    public init(_ document: Document) throws(DatabaseError) {
        id = document.id
        origin = DraftOrigin(document)
        value = try document.decode()
    }
}

extension Versioned: DocumentDraft where Value: Encodable {
    /// What the value encodes to.
    ///
    /// - Throws: `invalidDocument` when that is not an object; `invalidDocumentID` when the value's own `id` was changed.
    public func content() throws(DatabaseError) -> IncomingDocument {
        try BodyMaker().document(encoding: self)
    }
}

extension Versioned: Identifiable {}
extension Versioned: Sendable where Value: Sendable {}
extension Versioned: Equatable where Value: Equatable {}
extension Versioned: Hashable where Value: Hashable {}

extension Versioned: CustomStringConvertible {
    /// ID, revision and value.
    public var description: String { "\(id) at \(revision): \(value)" }
}

/// A Codable type whose properties may be missing from a document: they get the values that `init()` gives them. See
/// `Fleece.DecodableWithDefaults`.
public typealias DecodableWithDefaults = Fleece.DecodableWithDefaults

// MARK: - ValueIdentity

/// What a value that is to be saved says of the document's ID.
///
/// An `Identifiable` value has it in its `id`. Encoded under `id`, that is left out of the properties, because it is the
/// document's name already.
enum ValueIdentity: Sendable {
    /// Nothing: an ID may be made up.
    case none
    case id(String)
    /// Something that can't be an ID, and why; only one that is given will do.
    case unusable(String)

    /// The key under which an `Identifiable` value has its `id`.
    static let key = "id"

    /// Whether the UTF-8 `name` is ``key``.
    static func isKey(_ name: UnsafeRawBufferPointer) -> Bool {
        unsafe name.count == 2 && name[0] == UInt8(ascii: "i") && name[1] == UInt8(ascii: "d")
    }

    /// - Parameters:
    ///   - value: What was encoded.
    ///   - coded: What it has under ``key``.
    init(_ value: some Any, coded: DocumentValue?) {
        let type = Swift.type(of: value)
        guard let identifiable = value as? any Identifiable else {
            self =
                coded == nil
                ? .none
                : .unusable(
                    "\(type) has a property \"\(Self.key)\" but is not Identifiable, so it is not clear whether that is to be "
                        + "the document's ID. Make it Identifiable, or save it under an ID.")
            return
        }
        switch coded {
        case .string(let text): self = .id(text)
        case .null: self = .none
        case nil: self.init(identifiable)
        default: self = .unusable(Self.refusal(identifiable))
        }
    }

    /// That of a value whose `id` is not encoded.
    private init(_ value: some Identifiable) {
        switch value.id as Any {
        case let text as String: self = .id(text)
        case let uuid as UUID: self = .id(uuid.uuidString)
        case Optional<Any>.none: self = .none
        default: self = .unusable(Self.refusal(value))
        }
    }

    private static func refusal<Value: Identifiable>(_ value: Value) -> String {
        "The id of \(type(of: value)) is of the type \(Value.ID.self), which is no text that could be a document's ID. Give it "
            + "an id of the type String or UUID, or save it under an ID."
    }

    /// Whether `id` is the same ID, UUIDs in either case of letters among them.
    func isSame(as id: String) -> Bool {
        guard case .id(let own) = self else { return true }
        if own.utf8.elementsEqual(id.utf8) { return true }
        guard let uuid = UUID(uuidString: own) else { return false }
        return uuid == UUID(uuidString: id)
    }
}
