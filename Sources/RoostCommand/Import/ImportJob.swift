import Roost

/// An import under way.
struct ImportJob {
    private typealias Parsed = (piece: ImportPiece, documents: PreparedDocuments)

    private var source: any DocumentSource
    private let parsing: WorkAhead<ImportPiece, Parsed>
    private let collection: DocumentCollection
    private let options: ImportOptions
    /// Whether all of the file was read, or as much as can be.
    private var isRead = false
    /// What is stored at present, the next of its entries, and the next of its documents.
    private var parsed: Parsed?
    private var place = 0
    private var document = 0
    /// Documents that were stored.
    private(set) var stored = 0
    /// Revisions that the collection had already.
    private(set) var known = 0
    /// Documents that were left out.
    private(set) var bad = 0
    private(set) var isDone = false

    init(_ source: any DocumentSource, collection: DocumentCollection, _ options: ImportOptions) {
        self.source = source
        self.collection = collection
        self.options = options
        parsing = WorkAhead { ($0, $0.documents(options)) }
    }

    /// How many bytes of the file belong to what was stored.
    var position: UInt64 { parsed?.piece.position ?? 0 }

    /// Stores up to `size` documents.
    mutating func fill(_ batch: WriteTransaction, _ size: Int) throws {
        var count = 0
        while count < size, let parsed = try next() {
            let entry = parsed.piece.entries[place]
            place += 1
            switch entry {
            case .unusable(let reason): try leaveOut(reason)
            case .document(let line, let column):
                defer { document += 1 }
                do throws(DatabaseError) {
                    if try batch.take(parsed.documents, document, in: collection, options.revisions) {
                        count += 1
                    } else {
                        known += 1
                    }
                } catch {
                    guard error.isAboutDocument else { throw error }
                    try leaveOut(ErrorMessage.text(of: error, line: line, column: column))
                }
            }
        }
        stored += count
    }

    private mutating func leaveOut(_ reason: String) throws {
        guard options.goesOn else { throw CommandFailure(reason) }
        bad += 1
        Console.complain(reason)
    }

    /// What has the next entry, at ``place``; `nil` after the last.
    private mutating func next() throws -> Parsed? {
        while true {
            if let parsed, place < parsed.piece.entries.count { return parsed }
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
            (place, document) = (0, 0)
        }
    }
}

extension WriteTransaction {
    /// Stores a document that was read; `false` where its revision is in the collection already.
    fileprivate func take(
        _ documents: PreparedDocuments, _ place: Int, in collection: DocumentCollection,
        _ revisions: ImportOptions.Revisions
    ) throws(DatabaseError) -> Bool {
        switch revisions {
        case .keep: return try restore(documents, place, in: collection)
        case .new:
            try save(documents, place, in: collection, asNewRevision: true)
            return true
        }
    }
}

extension DatabaseError {
    /// Whether the document is at fault, and not the database.
    fileprivate var isAboutDocument: Bool {
        [
            .invalidDocument, .invalidDocumentID, .invalidRevisionID, .corruptRevisionData, .conflict,
            .limitExceeded, .notFound, .missingStub,
        ].contains(code)
    }
}
