/// The keyed container of a dictionary that grows.
struct KeyedValueEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    /// Adds a member with the value that `item` has the encoder write.
    @inline(__always)
    private func append(_ key: Key, _ item: (ValueEncoder) throws -> Item) rethrows {
        let encoder = encoder.encoder(of: key)
        encoder.append(key: key, try item(encoder))
    }

    func encodeNil(forKey key: Key) { append(key) { _ in .null } }
    func encode(_ value: Bool, forKey key: Key) { append(key) { _ in FleeceOutput.bool(value) } }
    func encode(_ value: String, forKey key: Key) { append(key) { $0.item(for: value) } }

    func encode(_ value: Double, forKey key: Key) throws {
        try append(key) { try $0.item(for: value, at: .key(key, of: $0.path)) }
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try encode(Double(value), forKey: key)
    }

    func encode(_ value: Int, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int8, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int16, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int32, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int64, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt8, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt16, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt32, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt64, forKey key: Key) { append(key) { $0.item(for: value) } }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try append(key) { try $0.item(encoding: value, at: .key(key, of: $0.path)) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.encoder(of: key).appendGap(key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.encoder(of: key).appendGap(key: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder.encoder(of: PlainKey.super).appendGap(key: PlainKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder.encoder(of: key).appendGap(key: key)
    }
}
