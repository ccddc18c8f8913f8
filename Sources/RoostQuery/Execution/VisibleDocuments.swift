import Fleece
import Roost
import RoostBytes

/// The documents of a collection that a query may know of. A query that is given one reads these documents and nothing else: no other
/// documents, and no index, since what an index holds, how much of it and in which order follows from all documents. So no expression is
/// evaluated, and no row compared, of what is not visible, and a query takes as long as it would if there were nothing else.
package protocol VisibleDocuments: AnyObject {
    /// The collection. Others have no visible documents.
    var collection: DocumentCollection { get }

    /// Makes a function that returns the next visible document of a selection, in its order; `nil` after the last.
    func documents(in selection: DocumentSelection) throws -> () throws -> Document?

    /// The visible document of an ID; `nil` where it is absent, deleted or not visible.
    func document(_ id: String) throws -> Document?
}

extension VisibleDocuments {
    /// The visible document of an ID in a collection.
    func find(_ id: String, of other: DocumentCollection) throws(DatabaseError) -> Document? {
        guard other == collection else { return nil }
        return try translated { try document(id) }
    }
}

/// The rows of a source that are visible.
final class VisibleRows: RowSource {
    private let number: Int
    private let read: () throws -> Document?
    private let counter: WorkCounter
    private let mark: Arena.Mark

    /// - Parameter read: Returns the next document.
    init(_ frame: Frame, _ number: Int, _ counter: WorkCounter, _ read: @escaping () throws -> Document?) {
        self.number = number
        self.read = read
        self.counter = counter
        mark = frame.arena.mark
        super.init(frame)
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
        return true
    }
}

extension Execution {
    /// The visible documents of a source.
    ///
    /// - Parameters:
    ///   - selection: Those that are asked for, unless there are `ids`.
    ///   - ids: The UTF-8 of the documents' IDs.
    func visibleRows(
        _ visible: any VisibleDocuments, of collection: DocumentCollection, _ number: Int,
        _ selection: DocumentSelection, ids: [[UInt8]]?
    ) throws(DatabaseError) -> RowSource {
        guard collection == visible.collection else { return RowSource(frame) }
        guard let ids else {
            return VisibleRows(
                frame, number, counter, try translated { try visible.documents(in: selection) })
        }
        var rest = ids[...]
        return VisibleRows(frame, number, counter) {
            while let id = rest.popFirst() {
                if let document = try visible.document(String(decoding: id, as: UTF8.self)) {
                    return document
                }
            }
            return nil
        }
    }

    /// Whether a search finds a visible document, which is looked at alone: words that other documents have count for nothing.
    ///
    /// - Returns: 0; `nil` where the document is not found.
    func rank(
        _ id: ByteView, in search: TextSearch, _ visible: any VisibleDocuments
    ) throws(DatabaseError) -> Double? {
        guard let text = search.text(frame).string else { throw TextSearch.noText }
        let key = TextMatchKey(search: search.number, text: ByteKey(text))
        do {
            guard search.collection == visible.collection, let document = try visible.document(id.string)
            else {
                return nil
            }
            let query = try textQueries[key] ?? search.index.query(text)
            textQueries[key] = query
            let reader = try TextReader(
                document, at: try documents(of: search.collection).snapshot, search.index)
            return try reader.count(query) > 0 ? 0 : nil
        } catch let error as TextQueryError {
            throw DatabaseError(.invalidQuery, error.text)
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}

/// Runs `body`, whose errors become those of the database.
private func translated<R>(_ body: () throws -> R) throws(DatabaseError) -> R {
    do {
        return try body()
    } catch let error as DatabaseError {
        throw error
    } catch {
        throw DatabaseError(.damaged, "What is visible can't be read. \(error)", underlying: error)
    }
}
