import Roost

/// An import under way.
struct ImportJob {
    private typealias Parsed = (piece: ImportPiece, documents: PreparedDocuments)

    private var source: any DocumentSource
    private let parsing: WorkAhead<ImportPiece, Parsed>
    private let collection: DocumentCollection
    private let goesOn: Bool
    /// Whether all of the file was read, or as much as can be.
    private var isRead = false
    /// What is stored at present, and the next of its documents.
    private var parsed: Parsed?
    private var place = 0
    /// Documents that were stored.
    private(set) var stored = 0
    /// Documents that were left out.
    private(set) var bad = 0
    private(set) var isDone = false

    /// - Parameters:
    ///   - field: the property that is the document's ID.
    ///   - goesOn: whether to leave out what can't be stored.
    init(_ source: any DocumentSource, field: String, collection: DocumentCollection, goesOn: Bool) {
        self.source = source
        self.collection = collection
        self.goesOn = goesOn
        parsing = WorkAhead { ($0, $0.documents(idField: field)) }
    }

    /// How many bytes of the file belong to what was stored.
    var position: UInt64 { parsed?.piece.position ?? 0 }

    /// Stores up to `size` documents.
    mutating func fill(_ batch: WriteBatch, _ size: Int) throws {
        var count = 0
        while count < size, let (piece, documents) = try next() {
            defer { place += 1 }
            do throws(DatabaseError) {
                try batch.save(documents, place, in: collection)
                count += 1
            } catch {
                guard error.isAboutDocument else { throw error }
                let text = ErrorMessage.text(
                    of: error, line: piece.places[place].line, column: piece.places[place].column)
                guard goesOn else { throw CommandFailure(text) }
                bad += 1
                Console.complain(text)
            }
        }
        stored += count
    }

    /// What has the next document, at ``place``; `nil` after the last.
    private mutating func next() throws -> Parsed? {
        while true {
            if let parsed, place < parsed.documents.count { return parsed }
            if let end = parsed?.piece.end {
                try end.get()
                isDone = true
                return nil
            }
            while !isRead, parsing.count < parsing.depth {
                let piece = ImportPiece(&source)
                isRead = piece.end != nil
                parsing.add(piece)
            }
            parsed = parsing.next()
            place = 0
        }
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
