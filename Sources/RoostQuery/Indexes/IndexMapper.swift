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
    /// How much of META() is asked for.
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
