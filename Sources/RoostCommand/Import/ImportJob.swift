import Roost

/// An import under way.
struct ImportJob {
    private let parsing: ParseAhead
    private let collection: DocumentCollection
    private let goesOn: Bool
    /// What was parsed and is still to be stored, from `place` on.
    private var ready = ParseAhead.Batch()
    private var place = 0
    /// Documents that were stored.
    private(set) var stored = 0
    /// Documents that were left out.
    private(set) var bad = 0
    private(set) var isDone = false

    /// - Parameter goesOn: whether to leave out what can't be stored.
    init(_ parsing: ParseAhead, collection: DocumentCollection, goesOn: Bool) {
        self.parsing = parsing
        self.collection = collection
        self.goesOn = goesOn
    }

    /// How many bytes of the file were read.
    var position: UInt64 { ready.position }

    /// Stores up to `size` documents.
    mutating func fill(_ batch: WriteBatch, _ size: Int) throws {
        var count = 0
        while count < size, let next = try next() {
            do throws(DatabaseError) {
                try save(next, batch)
                count += 1
            } catch {
                guard error.isAboutDocument else { throw error }
                let text = ErrorMessage.text(of: error, line: next.line, column: next.column)
                guard goesOn else { throw CommandFailure(text) }
                bad += 1
                Console.complain(text)
            }
        }
        stored += count
    }

    private func save(_ parsed: ParsedDocument, _ batch: WriteBatch) throws(DatabaseError) {
        let (document, id) = try parsed.content.get()
        try batch.save(document, id: id, in: collection)
    }

    /// The next document; `nil` after the last.
    private mutating func next() throws -> ParsedDocument? {
        while place == ready.documents.count {
            if let end = ready.end {
                try end.get()
                isDone = true
                return nil
            }
            ready = parsing.next()
            place = 0
        }
        defer { place += 1 }
        return ready.documents[place]
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
