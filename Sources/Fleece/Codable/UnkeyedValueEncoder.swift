/// The unkeyed container of an array that grows.
struct UnkeyedValueEncoder: UnkeyedEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    private var nextPath: CodingPath { .index(count, of: encoder.path) }

    func encodeNil() {
        encoder.append(.null)
    }

    func encode(_ value: Bool) {
        encoder.append(FleeceOutput.bool(value))
    }

    func encode(_ value: String) {
        encoder.append(encoder.item(for: value))
    }

    func encode(_ value: Double) throws {
        encoder.append(try encoder.item(for: value, at: nextPath))
    }

    func encode(_ value: Float) throws {
        try encode(Double(value))
    }

    func encode(_ value: Int) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int8) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int16) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int32) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int64) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt8) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt16) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt32) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt64) { encoder.append(encoder.item(for: value)) }

    func encode<T: Encodable>(_ value: T) throws {
        encoder.append(try encoder.item(encoding: value, at: nextPath))
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<
        NestedKey
    > {
        encoder.appendGap(at: nextPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.appendGap(at: nextPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder.appendGap(at: nextPath)
    }
}
