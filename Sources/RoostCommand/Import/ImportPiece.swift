import Fleece
import Roost

/// Some documents of an import that follow each other: their texts, and where these begin in the file.
struct ImportPiece: Sendable {
    /// Where a document begins in the file.
    struct Place: Sendable {
        /// Counted from 1.
        let line: Int
        /// In bytes from 1.
        let column: Int
    }

    private var texts = DocumentTexts()
    private(set) var places: [Place] = []
    /// How many bytes of the file were read.
    private(set) var position: UInt64 = 0
    /// Set in the last one: that the file ended, or why it can't be read on.
    private(set) var end: Result<Void, any Error>?

    /// Reads what comes next.
    init(_ source: inout any DocumentSource) {
        do {
            while !texts.isFull {
                guard let text = try source.next() else {
                    end = .success(())
                    break
                }
                texts.append(text.json)
                places.append(Place(line: text.line, column: text.column))
            }
        } catch {
            end = .failure(error)
        }
        position = source.reader.position
    }

    /// The documents.
    ///
    /// - Parameter field: The property that is the document's ID.
    func documents(idField field: String) -> PreparedDocuments {
        guard field != "_id" else { return texts.prepared() }
        return texts.prepared { (document) throws(DatabaseError) in try Self.id(of: document, field) }
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
