import Roost

/// A document of an import, parsed, or why it is none; and where in the file it begins.
struct ParsedDocument: Sendable {
    let content: Result<(document: IncomingDocument, id: String?), DatabaseError>
    /// Counted from 1.
    let line: Int
    /// In bytes from 1.
    let column: Int
    /// The length of its text in bytes.
    let length: Int
}
