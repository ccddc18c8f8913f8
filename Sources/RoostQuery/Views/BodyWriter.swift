import Fleece

/// Makes the Fleece bodies of values one after another. Not thread-safe; keeps its memory.
final class BodyWriter {
    private var writer = FleeceWriter(capacity: 256)

    /// The body of a value. The plainest types, which most views emit, go without an encoder.
    func body<T: Encodable>(of value: T) throws -> [UInt8] {
        if T.self == FleeceValue.self, let value = value as? FleeceValue { return try body(of: value) }
        if T.self == String.self, let text = value as? String {
            writer.write(text)
        } else if T.self == Int.self, let number = value as? Int {
            writer.write(Int64(number))
        } else {
            return try FleeceEncoder().encode(value)
        }
        return try writer.finish()
    }

    /// The body of a value; of null where there is none.
    func body(of value: FleeceValue) throws(FleeceError) -> [UInt8] {
        if value.exists { writer.write(value) } else { writer.writeNull() }
        return try writer.finish()
    }
}
