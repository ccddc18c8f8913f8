/// The container of a value that is a scalar, or that another value stands for.
struct SingleValueEncoder: SingleValueEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() {
        encoder.become(scalar: .null)
    }

    func encode(_ value: Bool) {
        encoder.become(scalar: FleeceOutput.bool(value))
    }

    func encode(_ value: String) {
        encoder.become(scalar: encoder.item(for: value))
    }

    func encode(_ value: Double) throws {
        encoder.become(scalar: try encoder.item(for: value, at: encoder.path))
    }

    func encode(_ value: Float) throws {
        try encode(Double(value))
    }

    func encode(_ value: Int) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int8) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int16) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int32) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int64) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt8) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt16) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt32) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt64) { encoder.become(scalar: encoder.item(for: value)) }

    func encode<T: Encodable>(_ value: T) throws {
        encoder.become(scalar: try encoder.item(encoding: value, at: encoder.path))
    }
}
