import Fleece
import RoostBytes

/// Makes the Fleece bodies of values one after another. Not thread-safe; keeps its memory.
final class BodyWriter {
    private var writer = FleeceWriter(capacity: 256)

    /// The body of a value.
    func body<T: Encodable>(of value: T) throws -> [UInt8] { try withBody(of: value) { $0.array } }

    /// The body of a value; of null where there is none.
    func body(of value: FleeceValue) throws -> [UInt8] { try withBody(of: value) { $0.array } }

    /// Calls `body` with the body of a value, valid during the call. The plainest types, which most views emit, go without an
    /// encoder.
    func withBody<T: Encodable, R>(of value: T, _ body: (ByteView) throws -> R) throws -> R {
        if T.self == FleeceValue.self, let value = value as? FleeceValue {
            return try withBody(of: value, body)
        }
        if T.self == String.self, let text = value as? String {
            writer.write(text)
        } else if T.self == Int.self, let number = value as? Int {
            writer.write(Int64(number))
        } else {
            return try FleeceEncoder().encode(value).withView { try body($0) }
        }
        return try writer.finish(body)
    }

    /// As ``withBody(of:_:)``; the body of null where there is no value.
    func withBody<R>(of value: FleeceValue, _ body: (ByteView) throws -> R) throws -> R {
        if value.exists { writer.write(value) } else { writer.writeNull() }
        return try writer.finish(body)
    }
}
