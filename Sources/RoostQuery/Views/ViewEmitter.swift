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
    /// Of the key.
    private let body = ByteBuffer()
    private let payload = ByteBuffer()

    /// - Parameter mapped: the places, among the documents of `rows`, of those that are mapped.
    init(_ rows: IndexRows, mapped: [Int], _ collation: Collation) {
        self.rows = rows
        self.mapped = mapped
        encoder = KeyEncoder(collation)
    }

    /// Says for which of the mapped documents is emitted next.
    func begin(_ index: Int) { rows.begin(mapped[index]) }

    /// Adds a row; a `FleeceValue` that does not exist is null.
    ///
    /// - Throws: for a key or a value that can't be stored; then there is no row.
    func emit<K: Encodable, V: Encodable>(_ key: K, _ value: V) throws {
        body.reset(keeping: 1 << 16)
        try bodies.write(key, to: body)
        encoder.reset()
        try encoder.append(FleeceNode(root: body.view))
        payload.reset(keeping: 1 << 16)
        ViewPayload.begin(body.view, in: payload)
        try bodies.write(value, to: payload)
        rows.add(encoder.view, payload: payload.view)
    }
}
