import Roost
import RoostIndex

/// Says of single documents whether a Mango selector matches them: CouchDB's filter `_selector`. It may be used from any
/// thread.
package struct MangoFilter: Sendable {
    private let expressions: DocumentExpressions
    /// The selector in CouchDB's normal form: implicit conditions written out, paths whole, negations moved to what they negate.
    package let normalForm: DocumentValue
    /// Whether it asks for conflicts, which may be with revisions that somebody does not see.
    package let readsConflicts: Bool

    /// - Throws: `invalidQuery` for a selector that is malformed.
    package init(_ selector: DocumentValue, of collection: DocumentCollection) throws(DatabaseError) {
        do throws(QueryError) {
            let selector = try MangoSelector(selector)
            normalForm = selector.json
            let condition = try MangoCondition.expression(of: selector, seesDeleted: true)
            expressions = try DocumentExpressions([condition], of: collection)
            readsConflicts = condition.mentions(.conflicts)
        } catch {
            throw DatabaseError(.invalidQuery, error.message, underlyingError: error)
        }
    }

    /// Whether the selector matches a document.
    ///
    /// - Parameter snapshot: a moment that has the document.
    package func matches(_ document: Document, at snapshot: CollectionSnapshot) throws -> Bool {
        var isMatch = false
        let examined = ViewDocument(document, ViewDocument.Setting(snapshot))
        try expressions.forEach([examined]) { isMatch = $0.holds(0) }
        return isMatch
    }
}
