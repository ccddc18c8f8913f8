import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder

/// Makes the rows of an index.
final class IndexMapper: Sendable {
    private let program: Program
    private let columns: [CompiledIndex.Column]
    /// The columns, then what is included.
    private let values: [Evaluation]
    private let filters: [Evaluation]
    private let elements: Evaluation?
    private let variable: Int?
    /// How much of META() is requested.
    private let metadata: SourceUse.Metadata
    /// What threads that map have left over.
    private let spares = SparePool<Mapping>()

    /// What one thread needs at a time.
    private final class Mapping {
        let frame: Frame
        let key: IndexKey
        let filters: [Evaluation]
        let elements: Evaluation?
        let evaluations: [Evaluation]
        /// The values of the row that is made.
        let values: Cells<Value>
        let payload = ByteBuffer()
        var writer = FleeceWriter(capacity: 64)

        init(_ mapper: IndexMapper, _ frame: Frame) {
            self.frame = frame
            key = IndexKey(mapper.columns)
            filters = mapper.filters.map(unshared)
            elements = mapper.elements.map(unshared)
            evaluations = mapper.values.map(unshared)
            values = Cells(.missing, count: evaluations.count)
        }
    }

    init(
        _ program: Program, columns: [CompiledIndex.Column], values: [Evaluation], filters: [Evaluation],
        elements: Evaluation?, variable: Int?, metadata: SourceUse.Metadata
    ) {
        self.program = program
        self.columns = columns
        self.values = values
        self.filters = filters
        self.elements = elements
        self.variable = variable
        self.metadata = metadata
    }

    func map(_ documents: DocumentPage) throws(DatabaseError) -> IndexRows {
        var rows = IndexRows(of: documents)
        let mapping = spares.take() ?? Mapping(self, Frame(program))
        let frame = mapping.frame
        let mark = frame.arena.mark
        try documents.forEach { (index, id, properties) throws(DatabaseError) in
            // What META() knows in an index follows from the revision alone: not when the document is to be purged.
            let body = metadata == .all ? BodyMetadata(try documents.document(index)) : nil
            frame.setRow(
                0, Value(FleeceNode(root: properties)),
                metadata == .none ? nil : RowMetadata(id: id, body: body))
            rows.begin(index)
            try add(mapping, &rows)
            // As a scan does: what can't be computed is an error, and no row that is missing.
            try frame.check()
            frame.arena.release(to: mark)
        }
        spares.giveBack(mapping)
        return rows
    }

    /// Adds the rows of the present document.
    private func add(_ mapping: Mapping, _ rows: inout IndexRows) throws(DatabaseError) {
        let frame = mapping.frame
        guard mapping.filters.allSatisfy({ Logic.holds($0(frame)) }) else { return }
        guard let elements = mapping.elements, let variable else { return try addRow(mapping, &rows) }
        guard let array = elements(frame).elements else { return }
        for element in array {
            frame.setVariable(variable, element)
            try addRow(mapping, &rows)
        }
    }

    /// Adds a row with the present values.
    private func addRow(_ mapping: Mapping, _ rows: inout IndexRows) throws(DatabaseError) {
        for place in mapping.evaluations.indices {
            mapping.values[place] = mapping.evaluations[place](mapping.frame)
        }
        mapping.key.set { mapping.values[$0] }
        mapping.payload.reset(keeping: 1 << 16)
        if elements == nil {
            try RowContent.write(
                mapping.values, columns, isKeyWhole: mapping.key.view.count <= IndexRows.longestKey,
                by: &mapping.writer, to: mapping.payload)
        }
        rows.add(mapping.key.view, payload: mapping.payload.view)
    }
}

// MARK: - Row content

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
    /// How many columns are requested.
    private let columnCount: Int
    /// The values of the row read last, by their places; missing where they are not asked for. They are kept in the arena.
    private(set) var values: [Value]

    /// - Parameter places: what of the rows is requested.
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
