import Fleece
import RoostBytes
import RoostIndex
import RoostOrder

/// Makes rows of an index of what a view emits for some documents. Belongs to one thread.
final class ViewEmitter {
    /// What was emitted.
    private(set) var rows: IndexRows
    /// Which of the documents of the rows are mapped.
    private let mapped: [Int]
    private let encoder: KeyEncoder
    private let bodies = BodyWriter()
    private let key = ByteBuffer()
    private let payload = ByteBuffer()

    /// - Parameter mapped: the places, among the documents of `rows`, of those that are mapped.
    init(_ rows: IndexRows, mapped: [Int], _ collation: Collation) {
        self.rows = rows
        self.mapped = mapped
        encoder = KeyEncoder(collation)
    }

    /// Says for which of the mapped documents is emitted next.
    func begin(_ index: Int) { rows.begin(mapped[index]) }

    /// Adds a row.
    ///
    /// - Throws: for a key or a value that can't be stored; then there is no row.
    func emit<K: Encodable, V: Encodable>(_ key: K, _ value: V) throws {
        reset()
        try bodies.write(key, to: self.key)
        try appendKey()
        try bodies.write(value, to: payload)
        rows.add(encoder.view, payload: payload.view)
    }

    /// Adds a row; what does not exist is null.
    ///
    /// - Throws: `FleeceError` for a key or a value that can't be stored; then there is no row.
    func emit(_ key: FleeceValue, _ value: FleeceValue) throws(FleeceError) {
        reset()
        try bodies.write(key, to: self.key)
        try appendKey()
        try bodies.write(value, to: payload)
        rows.add(encoder.view, payload: payload.view)
    }

    private func reset() {
        key.reset(keeping: 1 << 16)
        payload.reset(keeping: 1 << 16)
        encoder.reset()
    }

    /// What follows from the body of the key.
    private func appendKey() throws(FleeceError) {
        try encoder.append(FleeceNode(root: key.view))
        ViewPayload.begin(key.view, in: payload)
    }
}
