import Fleece

/// Makes bodies from what is to be saved, one after the other, keeping its memory between them.
///
/// Belongs to one task at a time.
final class BodyMaker {
    private var writer = FleeceWriter(capacity: 4096)
    /// Takes the reserved properties of a JSON text.
    private var reservedWriter = FleeceWriter(capacity: 256)

    /// The body with the content of a JSON text.
    ///
    /// - Throws: `invalidDocument` for text that is not one JSON object, with line and column; `limitExceeded` for
    ///   one that is nested too deeply or too large; `corruptRevisionData` for reserved properties that cannot be.
    func document(json: some Sequence<UInt8>) throws(DatabaseError) -> IncomingDocument {
        let hasReserved: Bool
        do throws(FleeceError) {
            hasReserved = try unsafe writer.write(
                json: json, separating: { unsafe ReservedNames.contain($0) }, into: &reservedWriter)
        } catch {
            writer.removeAll()
            reservedWriter.removeAll()
            throw DatabaseError(error)
        }
        let body = try finish()
        guard hasReserved else { return IncomingDocument(body) }
        let reserved = try bodyCall { () throws(FleeceError) in try reservedWriter.finish() }
        return IncomingDocument(body, claims: try ReservedProperties(FleeceDocument(trusting: reserved)))
    }

    /// The body that `value` encodes to, without the `id` of an `Identifiable` one. Dates become ISO 8601 text, URLs text,
    /// and data stays data.
    ///
    /// - Throws: `invalidDocument` when that is not an object, or when encoding fails; `corruptRevisionData`.
    func document(encoding value: some Encodable) throws(DatabaseError) -> IncomingDocument {
        do {
            try FleeceEncoder().encode(value, to: &writer)
        } catch {
            writer.removeAll()
            if let error = error as? FleeceError { throw DatabaseError(error) }
            throw DatabaseError(
                .invalidDocument, "A value of the type \(type(of: value)) cannot be encoded: \(error)",
                underlying: error)
        }
        let body = try finish()
        let coded = body.properties[ValueIdentity.key]
        let isLeftOut = coded.exists && value is any Identifiable
        var incoming = try separated(body, leavingOut: isLeftOut ? [ValueIdentity.key] : [])
        // An `_id` that was encoded says the same as the `id` of a type that encodes it so.
        incoming.identity =
            incoming.claims?.id.map { .id($0) } ?? ValueIdentity(value, coded: DocumentValue(coded))
        return incoming
    }

    /// The body that a value encodes to, which was read from the document `id`.
    ///
    /// - Throws: `invalidDocumentID` when its own `id` is another.
    func document<Value: Encodable>(encoding stored: Stored<Value>) throws(DatabaseError) -> IncomingDocument
    {
        let incoming = try document(encoding: stored.value)
        guard incoming.identity.isSame(as: stored.id) else {
            throw DatabaseError(
                .invalidDocumentID,
                "The id of a value that was read from the document \(DatabaseError.quoted(stored.id)) has been changed. Save "
                    + "its value, which makes another document, and delete this one if it is to go.")
        }
        return incoming
    }

    /// The body with these properties.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite; `limitExceeded`; `corruptRevisionData`.
    func document(_ properties: NamedValues<DocumentValue>) throws(DatabaseError) -> IncomingDocument {
        DocumentValue.write(properties, to: &writer)
        return try separated(try finish(), leavingOut: [])
    }

    /// The body, its reserved properties apart, without those that have one of `keys`.
    private func separated(_ body: DocumentBody, leavingOut keys: [String]) throws(DatabaseError)
        -> IncomingDocument
    {
        let mayHaveReserved = body.dictionary.hasKey(beginningWith: ReservedNames.firstByte)
        let reserved = mayHaveReserved ? ReservedNames.all.filter { body.properties[$0].exists } : []
        guard !reserved.isEmpty || !keys.isEmpty else { return IncomingDocument(body) }
        let claims = try reserved.isEmpty ? nil : ReservedProperties(body.properties)
        writer.beginDictionary()
        for (key, value) in body.dictionary
        where !(keys + reserved).contains(where: { $0.utf8.elementsEqual(key.utf8) }) {
            writer.key(key)
            writer.write(value)
        }
        writer.endDictionary()
        return IncomingDocument(try finish(), claims: claims)
    }

    private func finish() throws(DatabaseError) -> DocumentBody {
        let bytes = try bodyCall { () throws(FleeceError) in try writer.finish() }
        return try DocumentBody(new: FleeceDocument(trusting: bytes))
    }
}
