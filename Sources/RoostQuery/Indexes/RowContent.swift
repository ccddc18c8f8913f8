import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder

/// What a row of an index keeps beside its key, so that the values it was made of can be had back.
///
/// Nothing where the key has all of them. Else a Fleece array: for each column null where the key has its value, or an array
/// of the value alone; then what is included, each value as it is, undefined where it is missing.
enum RowContent {
    /// Appends what a row keeps to `buffer`.
    ///
    /// - Parameters:
    ///   - values: the columns, then what is included.
    ///   - isKeyWhole: whether the key was not too long to be kept.
    /// - Throws: `limitExceeded` for values that are nested too deeply.
    static func write(
        _ values: borrowing Cells<Value>, _ columns: [CompiledIndex.Column], isKeyWhole: Bool,
        by writer: inout FleeceWriter, to buffer: ByteBuffer
    ) throws(DatabaseError) {
        var isInKey = isKeyWhole && values.count == columns.count
        for place in columns.indices where isInKey {
            isInKey = Self.isInKey(values[place], columns[place].collation)
        }
        if isInKey { return }
        writer.beginArray()
        for place in 0..<values.count {
            let value = values[place]
            let isColumn = place < columns.count
            if isColumn, isKeyWhole, Self.isInKey(value, columns[place].collation) {
                writer.writeNull()
                continue
            }
            if isColumn { writer.beginArray() }
            if value.isMissing { writer.writeUndefined() } else { writer.write(value) }
            if isColumn { writer.endArray() }
        }
        writer.endArray()
        do throws(FleeceError) {
            try writer.finish(to: buffer)
        } catch {
            throw DatabaseError(
                .limitExceeded, "A row of an index can't be kept. \(error)", underlyingError: error)
        }
    }

    /// Whether a key has the value and not only something equal to it.
    private static func isInKey(_ value: Value, _ collation: Collation) -> Bool {
        switch value {
        case .missing, .null, .bool, .integer, .unsigned, .data: true
        case .double(let number): number.rounded() != number
        case .string: collation.texts == .bytes
        case .array, .dictionary, .decimal: false
        }
    }
}

/// Reads the values of rows of an index. Belongs to one thread.
final class RowReader {
    private let index: CompiledIndex
    private let arena: Arena
    /// How many columns are asked for.
    private let columnCount: Int
    /// The values of the row read last, by their places; missing where they are not asked for. They are kept in the arena.
    private(set) var values: [Value]

    /// - Parameter places: what of the rows is asked for.
    init(_ index: CompiledIndex, _ places: some Sequence<Int>, _ arena: Arena) {
        self.index = index
        self.arena = arena
        columnCount = (places.filter { $0 < index.columns.count }.max() ?? -1) + 1
        values = Array(repeating: .missing, count: index.columns.count + index.included.count)
    }

    /// - Throws: `damaged` for a row that no index has written.
    func read(_ row: IndexRowView) throws(DatabaseError) {
        var content: FleeceNode?
        if !row.payload.isEmpty {
            content = FleeceNode(root: arena.copy(row.payload))
            for place in index.columns.count..<values.count { values[place] = Value(content?[place]) }
        }
        guard columnCount > 0 else { return }
        do throws(MalformedBytes) {
            try read(row.key, content)
        } catch {
            throw Self.malformed
        }
    }

    private func read(_ key: ByteView, _ content: FleeceNode?) throws(MalformedBytes) {
        var position = 0
        // Columns whose values the content has are stepped over when another one is needed.
        var passed = 0
        for place in 0..<columnCount {
            if case .array(let stored)? = content.map({ Value($0[place]) }) {
                values[place] = Value(stored[0])
                continue
            }
            while passed < place {
                position = try Self.end(of: index.columns[passed], in: key, from: position)
                passed += 1
            }
            let column = index.columns[place]
            var reader = KeyReader(
                key, column.collation, from: position, isDescending: column.isDescending)
            guard let scalar = try reader.readScalar() else { throw MalformedBytes(at: position) }
            position = reader.position
            passed = place + 1
            values[place] = value(scalar)
        }
    }

    private func value(_ scalar: KeyReader.Scalar) -> Value {
        switch scalar {
        case .missing: .missing
        case .null: .null
        case .bool(let value): .bool(value)
        case .double(let value): .double(value)
        case .whole(isNegative: true, let magnitude): .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
        case .whole(isNegative: false, let magnitude):
            Int64(exactly: magnitude).map(Value.integer) ?? .unsigned(magnitude)
        case .text(let bytes): .string(arena.copy(bytes))
        case .data(let bytes): .data(arena.copy(bytes))
        }
    }

    private static func end(
        of column: CompiledIndex.Column, in key: ByteView, from position: Int
    ) throws(MalformedBytes) -> Int {
        var reader = KeyReader(key, column.collation, from: position, isDescending: column.isDescending)
        try reader.skip()
        return reader.position
    }

    /// The beginning of a row's key that its first `count` columns make; `nil` where the key was cut before their end.
    static func prefix(
        _ count: Int, of row: IndexRowView, _ index: CompiledIndex
    ) throws(DatabaseError) -> [UInt8]? {
        do throws(MalformedBytes) {
            let key = row.beginning
            var position = 0
            for column in index.columns.prefix(count) {
                position = try end(of: column, in: key, from: position)
            }
            return key.slice(0, position).array
        } catch {
            if row.isCut { return nil }
            throw malformed
        }
    }

    private static let malformed = DatabaseError(
        .damaged, "A row of an index can't be read. Drop the index and make it again.")
}
