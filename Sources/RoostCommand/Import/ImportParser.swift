import Fleece
import Roost

/// Parses the documents of a source, one after the other. Belongs to one thread.
struct ImportParser {
    private var source: any DocumentSource
    private let field: String
    private let maker = BodyMaker()

    /// - Parameter field: the property that is the document's ID.
    init(_ source: any DocumentSource, field: String) {
        self.source = source
        self.field = field
    }

    /// How many bytes of the file were read.
    var position: UInt64 { source.reader.position }

    /// The next document; `nil` after the last.
    ///
    /// - Throws: ``CommandFailure`` when what follows can't be told apart any more.
    mutating func next() throws -> ParsedDocument? {
        guard let text = try source.next() else { return nil }
        return ParsedDocument(
            content: parsed(text), line: text.line, column: text.column, length: text.json.count)
    }

    private func parsed(
        _ text: ImportedDocument
    ) -> Result<(document: IncomingDocument, id: String?), DatabaseError> {
        do throws(DatabaseError) {
            let document = try maker.document(json: text.json)
            return .success((document, try id(of: document)))
        } catch {
            return .failure(error)
        }
    }

    private func id(of document: IncomingDocument) throws(DatabaseError) -> String? {
        guard field != "_id" else { return nil }
        let value = document.properties[field]
        guard let id = value.string ?? value.int.map(String.init) else {
            throw DatabaseError(
                .invalidDocumentID,
                "The property \"\(field)\", which should be the ID, is no string or whole number.")
        }
        return id
    }
}
