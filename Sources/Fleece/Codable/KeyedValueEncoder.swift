/// The keyed container of a dictionary that grows.
struct KeyedValueEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) {
        encoder.append(key: key, .null)
    }

    func encode(_ value: Bool, forKey key: Key) {
        encoder.append(key: key, FleeceOutput.bool(value))
    }

    func encode(_ value: String, forKey key: Key) {
        encoder.append(key: key, encoder.item(for: value))
    }

    func encode(_ value: Double, forKey key: Key) throws {
        encoder.append(key: key, try encoder.item(for: value, at: .key(key, of: encoder.path)))
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try encode(Double(value), forKey: key)
    }

    func encode(_ value: Int, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: Int8, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: Int16, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: Int32, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: Int64, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: UInt, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: UInt8, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: UInt16, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: UInt32, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }
    func encode(_ value: UInt64, forKey key: Key) { encoder.append(key: key, encoder.item(for: value)) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        encoder.append(key: key, try encoder.item(encoding: value, at: .key(key, of: encoder.path)))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.appendGap(key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.appendGap(key: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder.appendGap(key: PlainKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder.appendGap(key: key)
    }
}
