/// What a type's properties are called where it is coded.
enum CodedNames {
    /// How a property is coded.
    enum Name: Equatable {
        case known(String)
        /// Under another name, which is not known.
        case other
    }

    /// The name under which a property of `type` is coded.
    ///
    /// A type's `CodingKeys` say so: the case that is called like the property has it. Where a type decodes itself in another way, it
    /// is the property's own.
    static func name(of property: String, in type: Any.Type) -> Name {
        guard let type = type as? any Decodable.Type else { return .known(property) }
        let decoder = KeyProbe(property)
        // It ends with the first look for a property, when the type of the keys is known.
        _ = try? type.init(from: decoder)
        return decoder.found
    }
}

/// A decoder that is asked for the type of a value's keys, and holds no value.
private final class KeyProbe: Decoder {
    private struct NoValue: Error {}

    private let property: String
    /// The coded name, as far as is known.
    private(set) var found: CodedNames.Name

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ property: String) {
        self.property = property
        found = .known(property)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        found = name(among: type)
        throw NoValue()
    }

    private func name<Key: CodingKey>(among type: Key.Type) -> CodedNames.Name {
        // Keys that can be gone through tell every name; else only a property's own name can be looked up.
        if let type = type as? any CaseIterable.Type {
            let names = codedNames(of: type)
            if !names.isEmpty { return names[property].map(CodedNames.Name.known) ?? .other }
        }
        guard let key = Key(stringValue: property) else { return .other }
        // A key of this name may be another property's.
        return (caseName(key) ?? property) == property ? .known(property) : .other
    }

    /// The coded names of all cases, by the names of the cases.
    private func codedNames<Keys: CaseIterable>(of type: Keys.Type) -> [String: String] {
        var names: [String: String] = [:]
        for key in type.allCases {
            if let key = key as? any CodingKey, let name = caseName(key) { names[name] = key.stringValue }
        }
        return names
    }

    private func caseName(_ key: some CodingKey) -> String? {
        unsafe enumCaseName(key).map { unsafe String(cString: $0) }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoValue() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NoValue() }
}

/// What the standard library prints for a case of an enumeration, which keys hide behind a description of their own; `nil` for anything
/// else, and where a program was built without what reflection needs.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<T>(_ value: T) -> UnsafePointer<CChar>?
