/// JSON texts of documents, one behind the other in one piece of memory.
package struct DocumentTexts: Sendable {
    private var bytes: [UInt8] = []
    private var documents: [(id: String?, end: Int)] = []

    package init() {}

    /// So many bytes of text are parsed at a time, or one document that has more.
    private static let mostBytes = 1 << 14

    /// Whether more should go into another piece.
    package var isFull: Bool { bytes.count >= Self.mostBytes }

    package var isEmpty: Bool { documents.isEmpty }

    /// Adds a text.
    ///
    /// - Parameter id: The document's name; `nil` for what the text says, or a new one.
    mutating func append(_ json: String, id: String?) {
        bytes.append(contentsOf: json.utf8)
        documents.append((id, bytes.count))
    }

    /// Adds a text in UTF-8.
    package mutating func append(_ json: ArraySlice<UInt8>) {
        bytes += json
        documents.append((nil, bytes.count))
    }

    /// The documents. O(n).
    ///
    /// - Parameters:
    ///   - takesNumbersAsIDs: whether an `_id` may be a whole number, which counts as its digits.
    ///   - name: What a document is called that has no name yet; `nil` for what it says itself, or a new one.
    package func prepared(
        takingNumbersAsIDs takesNumbersAsIDs: Bool = false,
        name: (IncomingDocument) throws(DatabaseError) -> String? = { _ in nil }
    ) -> PreparedDocuments {
        var maker = PreparedDocuments.Maker(takingNumbersAsIDs: takesNumbersAsIDs)
        var start = 0
        for (id, end) in documents {
            maker.add(json: bytes[start..<end]) { (document) throws(DatabaseError) in
                if let id { return id }
                if let name = try name(document) { return name }
                return try document.suggestedID
            }
            start = end
        }
        return maker.finish()
    }
}
