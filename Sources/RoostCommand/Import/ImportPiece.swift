import Fleece
import Roost

/// Some documents of an import that follow each other, and what among them can't become one.
struct ImportPiece: Sendable {
    /// What is in a place of the file.
    enum Entry: Sendable {
        /// The next of the documents, which begins at that line and column.
        case document(line: Int, column: Int)
        /// Why there is none.
        case unusable(String)
    }

    private var texts = DocumentTexts()
    private(set) var entries: [Entry] = []
    /// How many bytes of the file were read.
    private(set) var position: UInt64 = 0
    /// Set in the last one: that the file ended, or why it can't be read on.
    private(set) var end: Result<Void, any Error>?

    /// How many entries a piece has at most: those that are unusable have no text that would fill it.
    private static let mostEntries = 1 << 12

    /// Reads what comes next.
    init(_ source: inout any DocumentSource) {
        do {
            while !texts.isFull, entries.count < Self.mostEntries {
                guard let next = try source.next() else {
                    end = .success(())
                    break
                }
                switch next {
                case .document(let text, let line, let column):
                    texts.append(text)
                    entries.append(.document(line: line, column: column))
                case .unusable(let reason): entries.append(.unusable(reason))
                }
            }
        } catch {
            end = .failure(error)
        }
        position = source.reader.position
    }

    /// The documents, as `options` say.
    func documents(_ options: ImportOptions) -> PreparedDocuments {
        guard options.idField != "_id" else {
            return texts.prepared(takingNumbersAsIDs: options.takesNumbersAsIDs)
        }
        return texts.prepared { (document) throws(DatabaseError) in
            try Self.id(of: document, options.idField)
        }
    }

    private static func id(of document: IncomingDocument, _ field: String) throws(DatabaseError) -> String {
        let value = document.properties[field]
        guard let id = value.string ?? value.int.map(String.init) else {
            throw DatabaseError(
                .invalidDocumentID,
                "The property \"\(field)\", which should be the ID, is no string or whole number.")
        }
        return id
    }
}
