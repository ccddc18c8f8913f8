import Synchronization

/// Marks the property of a Codable type that is the document's ID, and not one of its properties.
///
/// ```swift
/// struct Note: Codable {
///     @DocumentIdentifier var id: String? = nil
///     var title: String
/// }
/// let saved = try notes.save(Note(title: "Swifts"))        // under a new ID
/// let note = try notes.get(saved.id, as: Note.self)        // note.id is that ID
/// ```
///
/// Reading a document sets it. Saving uses it where no other ID is given, and does not store it among the properties.
@propertyWrapper
public struct DocumentIdentifier: Sendable, Hashable {
    /// The ID; `nil` in a value that was not saved yet.
    public var wrappedValue: String?

    /// A property with this ID.
    public init(wrappedValue: String?) {
        self.wrappedValue = wrappedValue
    }
}

extension DocumentIdentifier: Codable {
    /// The user info under which a decoder finds the ID of the document that it reads, and an encoder the
    /// ``FoundIdentifier``.
    static let key = CodingUserInfoKey(rawValue: "Roost.DocumentIdentifier")!

    /// Takes the ID of the document that is being read; elsewhere, what the decoder holds.
    public init(from decoder: any Decoder) throws {
        if let id = decoder.userInfo[Self.key] as? String {
            wrappedValue = id
        } else {
            wrappedValue = try decoder.singleValueContainer().decode(String?.self)
        }
    }

    /// Gives the ID to the save that is under way; elsewhere, encodes it like any text.
    public func encode(to encoder: any Encoder) throws {
        if let found = encoder.userInfo[Self.key] as? FoundIdentifier, encoder.codingPath.count == 1 {
            found.note(wrappedValue, under: encoder.codingPath[0].stringValue)
        }
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// Reads an ID, which is not among the values.
    public func decode(_ type: DocumentIdentifier.Type, forKey key: Key) throws -> DocumentIdentifier {
        try DocumentIdentifier(from: superDecoder(forKey: key))
    }
}

/// The ID that a value had while it was encoded, and the property to leave out for it.
final class FoundIdentifier: Sendable {
    private let found = Mutex<(id: String?, property: String?)>((nil, nil))

    func note(_ id: String?, under property: String) { found.withLock { $0 = (id, property) } }

    var id: String? { found.withLock { $0.id } }
    var property: String? { found.withLock { $0.property } }
}
