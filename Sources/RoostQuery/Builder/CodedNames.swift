/// What a type's properties are called where it is coded.
enum CodedNames {
    /// Whether a value of `type` may be coded with a property of that name.
    ///
    /// A type's `CodingKeys` say so. Where a type decodes itself in another way, any name may be right.
    static func contain(_ name: String, in type: Any.Type) -> Bool {
        guard let type = type as? any Decodable.Type else { return true }
        let decoder = KeyProbe(name)
        // It ends with the first look for a property, when the type of the keys is known.
        _ = try? type.init(from: decoder)
        return decoder.hasName
    }
}

/// A decoder that is asked for the type of a value's keys, and holds no value.
private final class KeyProbe: Decoder {
    private struct NoValue: Error {}

    private let name: String
    /// Whether the keys have the name, as far as is known.
    private(set) var hasName = true

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ name: String) { self.name = name }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        hasName = Key(stringValue: name) != nil
        throw NoValue()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoValue() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NoValue() }
}
