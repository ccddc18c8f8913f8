import Fleece

/// Saving what another module has taken apart already, so that it is not written as text and parsed again.
extension WriteBatch {
    /// Saves properties as a document.
    ///
    /// - Parameters:
    ///   - properties: A dictionary without reserved properties.
    ///   - reserved: What stands in them: `_attachments`, `_deleted`.
    ///   - contents: The content of the attachments that follow, which the store has.
    /// - Throws: As ``save(json:id:in:expecting:)-(String,_,_,_)``.
    package func save(
        _ properties: FleeceDocument, reserved: FleeceDocument, contents: NamedValues<Attachment>, id: String,
        in collection: DocumentCollection, expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        try save(
            try incoming(properties, reserved, contents), id: id, in: collection, expecting: expectation,
            mayDelete: true)
    }

    /// Adds a revision that was made elsewhere; see ``insert(json:id:history:isDeleted:in:)-(String,_,_,_,_)``.
    package func insert(
        _ properties: FleeceDocument, reserved: FleeceDocument, contents: NamedValues<Attachment>, id: String,
        history: [RevisionID], in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        try insert(
            try incoming(properties, reserved, contents), id: id, history: history, isDeleted: false,
            in: collection)
    }

    private func incoming(
        _ properties: FleeceDocument, _ reserved: FleeceDocument, _ contents: NamedValues<Attachment>
    ) throws(DatabaseError) -> IncomingDocument {
        var document = IncomingDocument(
            try DocumentBody(new: properties), claims: try ReservedProperties(reserved))
        document.contents = contents
        return document
    }
}
