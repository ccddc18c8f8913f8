import Fleece
import Roost
import RoostBytes

/// Keeps the bytes of values that last longer than a row: literals, keys and parameters.
///
/// Filled by one thread, and then only read.
final class ConstantPool: @unchecked Sendable {
    // Nothing changes in it after the program is compiled, so that all threads may read what it keeps.
    private let arena = Arena()

    /// A copy of `text` that stays as long as the pool.
    func bytes(_ text: String) -> ByteView { arena.copy(text) }

    /// A copy of `bytes` that stays as long as the pool.
    func bytes(_ bytes: [UInt8]) -> ByteView { arena.copy(bytes) }

    /// A copy of `value` that stays as long as the pool.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite, `limitExceeded` for too deep nesting or too many bytes.
    func value(_ value: DocumentValue) throws(DatabaseError) -> Value {
        switch value {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return Int64(exactly: value).map(Value.integer) ?? .unsigned(value)
        case .double(let value):
            guard value.isFinite else {
                throw DatabaseError(.invalidQuery, "A query knows no number \(value): give a finite one.")
            }
            return .double(value)
        case .unstorable(let reason): throw DatabaseError(.invalidQuery, reason)
        case .string(let text): return .string(try kept(arena.copy(text)))
        case .data(let bytes): return .data(try kept(arena.copy(bytes)))
        case .array, .dictionary:
            return Value(FleeceNode(root: try kept(arena.copy(try value.fleeceBytes()))))
        }
    }

    private func kept(_ bytes: ByteView) throws(DatabaseError) -> ByteView {
        guard !arena.isExhausted else {
            throw DatabaseError(.limitExceeded, "The query's values exceed \(Arena.limit >> 20) MB.")
        }
        return bytes
    }
}
