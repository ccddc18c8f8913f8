import Fleece
import Roost
import RoostBytes

/// The visible documents of a source, where not all are.
final class VisibleScan: Operator {
    private let visible: any VisibleDocuments
    private let collection: DocumentCollection
    private let access: DocumentAccess
    private let number: Int
    private let counter: WorkCounter
    private var read: () throws -> Document? = { nil }
    private var mark: Arena.Mark

    init(
        _ node: SourceNode, _ visible: any VisibleDocuments, _ collection: DocumentCollection,
        _ access: DocumentAccess, _ execution: Execution
    ) {
        self.visible = visible
        self.collection = collection
        self.access = access
        number = node.source.number
        counter = execution.counter
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = frame.arena.mark
        read = { nil }
        guard collection == visible.collection else { return }
        if let ids = access.sortedIDs(frame) {
            var rest = ids[...]
            read = { [visible] in
                while let id = rest.popFirst() {
                    if let document = try visible.document(String(decoding: id, as: UTF8.self)) {
                        return document
                    }
                }
                return nil
            }
        } else if let selection = access.selection(frame, of: nil) {
            read = try translated { try visible.documents(in: selection) }
        }
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        try counter.checkCancellation()
        guard let document = try translated(read) else { return false }
        counter.documents += 1
        let body = document.fleece.bytes.withView { frame.arena.copy($0) }
        frame.setRow(
            number, Value(FleeceNode(root: body)),
            RowMetadata(
                id: frame.arena.copy(Array(document.id.utf8)), body: BodyMetadata(document)))
        produced += 1
        return true
    }

    override func close() { read = { nil } }
}
