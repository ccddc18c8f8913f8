import Fleece
import Foundation
import Roost
import RoostBytes
import RoostIndex

/// Expressions of queries that are computed for single documents, on any thread.
struct DocumentExpressions: Sendable {
    private let program: Program
    private let item: Int
    private let evaluations: [Evaluation]

    /// What elements of an array that is unnested are called in expressions: `["?item"]`.
    static let itemName = "item"

    /// - Throws: `QueryError` for names that are not known, or functions that there are not.
    init(_ expressions: [Expression], of collection: DocumentCollection) throws(QueryError) {
        let document = DocumentProgram(collection.schema, variables: [Self.itemName])
        let bound = try expressions.map { (expression) throws(QueryError) in
            try document.bind(expression).value
        }
        evaluations = try bound.map { (expression) throws(QueryError) in try document.compile(expression) }
        program = document.program
        item = document.variables[0]
    }

    /// Calls `body` for each document with what computes the expressions for it, valid during the call.
    func forEach(_ documents: [ViewDocument], _ body: (DocumentValues) throws -> Void) throws {
        let frame = Frame(program)
        let present = PresentDocument()
        frame.reader = present
        defer { extendLifetime(present) }
        // What is kept, and replicated with the database, depends on no place.
        frame.timeZone = .gmt
        for document in documents {
            present.document = document
            let mark = frame.arena.mark
            defer { frame.arena.release(to: mark) }
            let id = frame.arena.copy(Array(document.id.utf8))
            let metadata = RowMetadata(id: id, body: BodyMetadata(document.document))
            try document.document.fleece.bytes.withView { bytes in
                frame.setRow(0, Value(FleeceNode(root: bytes)), metadata)
                try body(DocumentValues(frame: frame, evaluations: evaluations, item: item))
            }
            try frame.check()
        }
    }
}

/// What expressions may ask for that see nothing but one document.
private final class PresentDocument: DocumentSource {
    var document: ViewDocument?

    func document(
        _ id: String, of collection: DocumentCollection?
    ) throws(DatabaseError) -> (document: Document, moment: CollectionSnapshot)? {
        document.map { ($0.document, $0.moment) }
    }

    func rows(of plan: QueryPlan, limit: Int) throws(DatabaseError) -> OwnedRows { [] }
    func blob(named node: FleeceNode, _ frame: Frame) -> Value { .missing }
    func rank(_ id: ByteView, in search: TextSearch) throws(DatabaseError) -> Double? { nil }
}

/// The values of expressions for one document.
struct DocumentValues {
    let frame: Frame
    let evaluations: [Evaluation]
    let item: Int

    /// The value of an expression, for an element that was unnested where one is set.
    func value(_ index: Int) -> Value { evaluations[index](frame) }

    /// Whether a condition holds.
    func holds(_ index: Int) -> Bool { Logic.holds(value(index)) }

    /// The value of an expression to keep; null where there is none.
    func stored(_ index: Int) throws -> FleeceValue {
        var writer = FleeceWriter()
        let value = value(index)
        if value.isMissing { writer.writeNull() } else { writer.write(value) }
        return FleeceDocument(trusting: try writer.finish()).root
    }

    /// Calls `body` for each element of an array, which expressions refer to by then.
    func forEachItem(of index: Int, _ body: () throws -> Void) rethrows {
        guard let elements = value(index).arrayElements else { return }
        for element in elements {
            frame.setVariable(item, element)
            try body()
        }
    }
}

// MARK: - View document

/// A document as a view's function sees it: the winning revision, which is not deleted.
///
/// What a view emits must follow from this alone, not from the time, other documents or chance.
public struct ViewDocument: Sendable {
    /// The document.
    public let document: Document
    private let setting: Setting

    /// What documents that are mapped together have in common: one reference to count for each of them.
    final class Setting: Sendable {
        let moment: CollectionSnapshot
        let showsSequence: Bool

        init(_ moment: CollectionSnapshot, showsSequence: Bool = false) {
            self.moment = moment
            self.showsSequence = showsSequence
        }
    }

    init(_ document: Document, _ setting: Setting) {
        self.document = document
        self.setting = setting
    }

    /// The moment that it is of.
    var moment: CollectionSnapshot { setting.moment }

    /// The document's name in its collection.
    public var id: String { document.id }

    /// The winning revision.
    public var revision: RevisionID { document.revision }

    /// The document's place in the changes of its collection, what CouchDB calls `_local_seq`.
    public var sequence: UInt64 { document.sequence }

    /// The value of a property; undefined when there is none.
    public subscript(key: String) -> FleeceValue { document[key] }

    /// The value that a path leads to; undefined if it leads nowhere.
    public subscript(path path: FleecePath) -> FleeceValue { document[path: path] }

    /// The revisions of the leaves that are in conflict with the winner, what CouchDB calls `_conflicts`.
    public var conflicts: [RevisionID] {
        document.isConflicted ? (try? setting.moment.conflicts(of: id).map(\.revision)) ?? [] : []
    }

    /// The document as CouchDB hands it to map functions: `_id`, `_rev`, `_conflicts`, `_deleted_conflicts` and stubs of
    /// `_attachments` where there are any, and `_local_seq` with the option `local_seq` of the design document.
    ///
    /// - Throws: `DatabaseError`, such as `damaged`.
    public func json() throws(DatabaseError) -> String { String(decoding: try jsonBytes(), as: UTF8.self) }

    /// The same in UTF-8.
    package func jsonBytes() throws(DatabaseError) -> [UInt8] {
        var metadata: DocumentMetadata = [.id, .revision, .deletion, .attachments, .md5Digests]
        if document.hasSeveralLeaves { metadata.formUnion([.conflicts, .deletedConflicts]) }
        if setting.showsSequence { metadata.insert(.localSequence) }
        return try setting.moment.jsonBytes(document, with: metadata)
    }
}
