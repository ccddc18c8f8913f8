/// The keyed container of a dictionary.
struct KeyedValueDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ValueDecoder
    let dictionary: FleeceDictionary

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { dictionary.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { decoder.value[key.stringValue].exists }

    /// The decoder for the value of `key`, which must exist.
    private func element(_ key: some CodingKey) throws -> ValueDecoder {
        let value = decoder.value[key.stringValue]
        guard value.exists else {
            let description = "There is no value for the key “\(key.stringValue)”."
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: description))
        }
        return ValueDecoder(value, path: .key(key, of: decoder.path), state: decoder.state)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try element(key).value.isNull }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try element(key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try element(key).string() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try element(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try element(key).float() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try element(key).integer() }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try element(key).integer() }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try element(key).integer() }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try element(key).integer() }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try element(key).integer() }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try element(key).integer() }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try element(key).integer() }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try element(key).integer() }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try element(key).integer() }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try element(key).integer() }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try element(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try element(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try element(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try element(PlainKey.super) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try element(key) }
}
