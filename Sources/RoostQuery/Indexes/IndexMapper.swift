import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import Synchronization

/// Makes the rows of an index.
final class IndexMapper: Sendable {
    private let program: Program
    private let columns: [CompiledIndex.Column]
    /// The columns, then what is included.
    private let values: [Evaluation]
    private let filter: Evaluation?
    private let elements: Evaluation?
    private let variable: Int
    /// What threads that map have left over.
    private let idle = Mutex<[Mapping]>([])

    /// What one thread needs at a time.
    private struct Mapping: @unchecked Sendable {
        // Handed from one thread to another, and used by one only.
        let frame: Frame
        let key: IndexKey
    }

    init(
        _ program: Program, columns: [CompiledIndex.Column], values: [Evaluation], filter: Evaluation?,
        elements: Evaluation?, variable: Int
    ) {
        self.program = program
        self.columns = columns
        self.values = values
        self.filter = filter
        self.elements = elements
        self.variable = variable
    }

    func map(_ documents: [Document]) -> IndexRows {
        var rows = IndexRows(of: documents)
        guard let mapping = idle.withLock({ $0.popLast() }) ?? made() else { return rows }
        defer { idle.withLock { $0.append(mapping) } }
        for (index, document) in documents.enumerated() {
            rows.begin(index)
            add(document, mapping, &rows)
        }
        return rows
    }

    private func add(_ document: Document, _ mapping: Mapping, _ rows: inout IndexRows) {
        let frame = mapping.frame
        let mark = frame.arena.mark
        defer { frame.arena.release(to: mark) }
        document.value.withNode { root in
            frame.setRow(
                0, Value(root), RowMetadata(id: frame.arena.copy(document.id), body: BodyMetadata(document)))
            if let filter, !Logic.holds(filter(frame)) { return }
            guard let elements else {
                add(mapping, &rows)
                return
            }
            guard let array = elements(frame).elements else { return }
            for element in array {
                frame.setVariable(variable, element)
                add(mapping, &rows)
            }
        }
    }

    private func made() -> Mapping? {
        guard let frame = try? Frame(program, parameters: [:]) else { return nil }
        return Mapping(frame: frame, key: IndexKey(columns))
    }

    /// Adds a row with the present values.
    private func add(_ mapping: Mapping, _ rows: inout IndexRows) {
        let present = values.map { $0(mapping.frame) }
        mapping.key.set(present)
        guard elements == nil else { return rows.add(mapping.key.view, payload: .empty) }
        let content = RowContent.encode(
            present, columns, isKeyWhole: mapping.key.view.count <= IndexRows.longestKey)
        content.withView { rows.add(mapping.key.view, payload: $0) }
    }
}
