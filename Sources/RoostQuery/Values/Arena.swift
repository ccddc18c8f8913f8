import Fleece
import Roost
import RoostBytes

/// Memory for what is computed while a row is looked at: taken piece by piece, given back all at once.
///
/// Pieces stay where they are until they are given back with ``release(to:)``. Belongs to one thread.
@safe final class Arena {
    /// How far the arena was used at some moment.
    struct Mark {
        fileprivate let chunk: Int
        fileprivate let used: Int
    }

    /// The most memory that an arena takes, in bytes.
    static let limit = 256 << 20

    /// The size of the first chunk: many executions need no more. Each is as large as all before it, up to the greatest.
    private static let leastChunk = 4 << 10
    private static let greatestChunk = 64 << 10
    @exclusivity(unchecked) private var first: UnsafeMutableRawBufferPointer
    @exclusivity(unchecked) private var further: [UnsafeMutableRawBufferPointer]
    /// The number of the chunk that pieces are taken from, the first one's being 0.
    private var current = 0
    private var used = 0
    private var total = 0

    /// Whether something did not fit, and reads as nothing.
    private(set) var isExhausted = false

    init() {
        unsafe first = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        unsafe further = []
    }

    deinit {
        unsafe first.deallocate()
        for index in unsafe further.indices { unsafe further[index].deallocate() }
    }

    /// The present end, to come back to.
    var mark: Mark { Mark(chunk: current, used: used) }

    /// Gives back what was taken since `mark`.
    func release(to mark: Mark) {
        (current, used) = (mark.chunk, mark.used)
    }

    /// Gives back everything, and all memory but the first chunk.
    func clear() {
        (current, used) = (0, 0)
        isExhausted = false
        guard unsafe !further.isEmpty || first.count > Self.greatestChunk else { return }
        for index in unsafe further.indices { unsafe further[index].deallocate() }
        unsafe further = []
        if unsafe first.count > Self.greatestChunk {
            unsafe first.deallocate()
            unsafe first = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
        total = unsafe first.count
    }

    /// A copy of `bytes` that stays until it is given back.
    func copy(_ bytes: ByteView) -> ByteView {
        guard bytes.count > 0, let room = unsafe take(bytes.count) else { return .empty }
        unsafe room.copyMemory(from: bytes.buffer)
        return unsafe ByteView(UnsafeRawBufferPointer(room))
    }

    /// A copy of the text's UTF-8.
    func copy(_ text: String) -> ByteView {
        var text = text
        return text.withUTF8 { unsafe copy(ByteView(UnsafeRawBufferPointer($0))) }
    }

    /// A copy of `bytes` that stays until it is given back.
    func copy(_ bytes: [UInt8]) -> ByteView {
        unsafe bytes.withUnsafeBytes { unsafe copy(ByteView($0)) }
    }

    private func take(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        // Bodies are read at even addresses.
        let size = (count + 7) & ~7
        while true {
            let chunk = unsafe current == 0 ? first : further[current - 1]
            if used + size <= chunk.count {
                defer { used += size }
                return unsafe UnsafeMutableRawBufferPointer(rebasing: chunk[used..<used + count])
            }
            guard unsafe current < further.count else { break }
            current += 1
            used = 0
        }
        let length = max(size, min(max(total, Self.leastChunk), Self.greatestChunk))
        guard total + length <= Self.limit else {
            isExhausted = true
            return nil
        }
        total += length
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 8)
        if unsafe first.isEmpty {
            unsafe first = chunk
        } else {
            unsafe further.append(chunk)
            current += 1
        }
        used = size
        return unsafe UnsafeMutableRawBufferPointer(rebasing: chunk[..<count])
    }
}

// MARK: - Constant pool

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
