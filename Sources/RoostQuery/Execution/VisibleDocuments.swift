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

extension Execution {
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
func translated<R>(_ body: () throws -> R) throws(DatabaseError) -> R {
    do {
        return try body()
    } catch let error as DatabaseError {
        throw error
    } catch {
        throw DatabaseError(.damaged, "What is visible can't be read. \(error)", underlyingError: error)
    }
}
