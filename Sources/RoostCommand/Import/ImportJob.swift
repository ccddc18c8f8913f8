import Fleece
import Roost

/// An import under way.
struct ImportJob {
    private var source: any DocumentSource
    private let collection: DocumentCollection
    private let field: String
    private let goesOn: Bool
    /// Documents that were stored.
    private(set) var stored = 0
    /// Documents that were left out.
    private(set) var bad = 0
    private(set) var isDone = false

    /// - Parameters:
    ///   - field: the property that is the document's ID.
    ///   - goesOn: whether to leave out what can't be stored.
    init(source: any DocumentSource, collection: DocumentCollection, field: String, goesOn: Bool) {
        self.source = source
        self.collection = collection
        self.field = field
        self.goesOn = goesOn
    }

    /// Stores up to `size` documents.
    mutating func fill(_ batch: WriteBatch, _ size: Int) throws {
        var count = 0
        while count < size {
            guard let document = try source.next() else {
                isDone = true
                break
            }
            do {
                try save(document.json, batch)
                count += 1
            } catch let error as DatabaseError where error.isAboutDocument {
                let text = ErrorMessage.text(of: error, line: document.line, column: document.column)
                guard goesOn else { throw CommandFailure(text) }
                bad += 1
                Console.complain(text)
            }
        }
        stored += count
    }

    private func save(_ text: ArraySlice<UInt8>, _ batch: WriteBatch) throws {
        guard field != "_id" else {
            try batch.save(json: text, in: collection)
            return
        }
        let value: FleeceValue
        do {
            value = try FleeceDocument(json: text).root[field]
        } catch {
            throw DatabaseError(.invalidDocument, "This cannot be a document. \(error)", underlying: error)
        }
        let id = value.string ?? value.int.map(String.init)
        guard let id else {
            throw DatabaseError(
                .invalidDocumentID,
                "The property \"\(field)\", which should be the ID, is no string or whole number.")
        }
        try batch.save(json: text, id: id, in: collection)
    }
}

extension DatabaseError {
    /// Whether the document is at fault, and not the database.
    fileprivate var isAboutDocument: Bool {
        [
            .invalidDocument, .invalidDocumentID, .invalidRevisionID, .corruptRevisionData, .conflict,
            .limitExceeded,
            .notFound,
        ].contains(code)
    }
}
