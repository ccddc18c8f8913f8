import Foundation

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
