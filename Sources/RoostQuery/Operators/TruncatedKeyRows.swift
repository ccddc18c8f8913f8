import Roost
import RoostBytes
import RoostIndex

/// Sorts rows of an index whose keys were too long to be kept, of which the beginnings are equal: by their values.
///
/// Belongs to one thread.
final class TruncatedKeyRows {
    private let sort: ExternalSort
    private let reader: RowReader
    private let key: IndexKey
    private let arena: Arena
    private let isReversed: Bool
    /// The row that was asked for last.
    private let current = ByteBuffer()

    /// - Parameter isReversed: whether the last row comes first.
    init(_ index: CompiledIndex, isReversed: Bool, _ execution: Execution) {
        sort = ExternalSort(execution)
        arena = execution.frame.arena
        reader = RowReader(index, index.columns.indices, arena)
        key = IndexKey(index.columns)
        self.isReversed = isReversed
    }

    func add(_ row: IndexRowView) throws(DatabaseError) {
        let mark = arena.mark
        defer { arena.release(to: mark) }
        try reader.read(row)
        let values = reader.values
        key.set { values[$0] }
        let content = ByteBuffer(capacity: row.key.count + row.value.count + 8)
        content.append(prefixed: row.key)
        content.append(row.value)
        let whole = key.view.array
        // No key is the beginning of another one.
        try sort.add(isReversed ? whole.map { ~$0 } : whole, content.view.array)
    }

    /// The next row in order, valid until the one after it is asked for; `nil` after the last. Nothing can be added once it was
    /// asked for.
    func next() throws(DatabaseError) -> IndexRowView? {
        guard let entry = try sort.next() else { return nil }
        current.reset()
        current.append(entry.value)
        do throws(MalformedBytes) {
            var reader = ByteReader(current.view)
            let key = try reader.prefixed()
            return try IndexRowView(key: key, current.view.dropFirst(reader.position))
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}
