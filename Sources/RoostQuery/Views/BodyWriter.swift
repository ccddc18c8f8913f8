import Fleece
import RoostBytes

/// Writes the Fleece bodies of values one after another. Not thread-safe; keeps its memory.
final class BodyWriter {
    private var writer = FleeceWriter(capacity: 256)

    /// The body of a value.
    func body<T: Encodable>(of value: T) throws -> [UInt8] {
        let buffer = ByteBuffer()
        try write(value, to: buffer)
        return buffer.view.array
    }

    /// The body of a value; of null where there is none.
    func body(of value: FleeceValue) throws(FleeceError) -> [UInt8] {
        let buffer = ByteBuffer()
        try write(value, to: buffer)
        return buffer.view.array
    }

    /// Appends the body of a value. The plainest types, which most views emit, go without an encoder.
    func write<T: Encodable>(_ value: T, to buffer: ByteBuffer) throws {
        // Of the same type, so that nothing is changed by the cast; `as?` would look for it in tables.
        if T.self == FleeceValue.self {
            try write(unsafe unsafeBitCast(value, to: FleeceValue.self), to: buffer)
        } else if T.self == [FleeceValue].self {
            writer.beginArray()
            for element in unsafe unsafeBitCast(value, to: [FleeceValue].self) { writer.write(element) }
            writer.endArray()
            try writer.finish(to: buffer)
        } else if T.self == String.self {
            writer.write(unsafe unsafeBitCast(value, to: String.self))
            try writer.finish(to: buffer)
        } else if T.self == Int.self {
            writer.write(Int64(unsafe unsafeBitCast(value, to: Int.self)))
            try writer.finish(to: buffer)
        } else {
            buffer.append(try FleeceEncoder().encode(value))
        }
    }

    /// Appends the body of a value; of null where there is none.
    func write(_ value: FleeceValue, to buffer: ByteBuffer) throws(FleeceError) {
        if value.exists { writer.write(value) } else { writer.writeNull() }
        try writer.finish(to: buffer)
    }
}
