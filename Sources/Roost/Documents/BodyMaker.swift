import Fleece

/// Makes bodies from what is to be saved, one after the other, keeping its memory between them.
///
/// Belongs to one task at a time.
package final class BodyMaker {
    // What follows is changed by one call after another: checking at run time that no two overlap takes a share of the
    // time that each document takes.
    private var writer: FleeceWriter {
        @inline(__always) _read { yield unsafe uncheckedWriter }
        @inline(__always) _modify { yield unsafe &uncheckedWriter }
    }
    /// Takes the members that are no properties.
    private var otherWriter: FleeceWriter {
        @inline(__always) _read { yield unsafe uncheckedOtherWriter }
        @inline(__always) _modify { yield unsafe &uncheckedOtherWriter }
    }
    @exclusivity(unchecked) private var uncheckedWriter = FleeceWriter(capacity: 4096)
    @exclusivity(unchecked) private var uncheckedOtherWriter = FleeceWriter(capacity: 256)
    private let encoder = FleeceEncoder()

    private let takesNumbersAsIDs: Bool

    /// - Parameter takesNumbersAsIDs: whether the `_id` of JSON text may be a whole number, which counts as its digits.
    package init(takesNumbersAsIDs: Bool = false) { self.takesNumbersAsIDs = takesNumbersAsIDs }

    /// The body with the content of a JSON text.
    ///
    /// - Throws: `invalidDocument` for text that is not one JSON object, with line and column; `limitExceeded` for
    ///   one that is nested too deeply or too large; `corruptRevisionData` for reserved properties that cannot be.
    package func document(json: some Sequence<UInt8>) throws(DatabaseError) -> IncomingDocument {
        let hasReserved: Bool
        do throws(FleeceError) {
            hasReserved = try unsafe writer.write(
                json: json, separating: { unsafe ReservedNames.contain($0) }, into: &otherWriter)
        } catch {
            writer.removeAll()
            otherWriter.removeAll()
            throw DatabaseError(error)
        }
        let body = try finish()
        guard hasReserved else { return IncomingDocument(body) }
        return IncomingDocument(
            body, claims: try ReservedProperties(finishOthers(), takesNumbersAsIDs: takesNumbersAsIDs))
    }

    /// The body that `value` encodes to, without the `id` of an `Identifiable` one. Dates become ISO 8601 text, URLs text,
    /// and data stays data.
    ///
    /// - Throws: `invalidDocument` when that is not an object, or when encoding fails; `corruptRevisionData`.
    func document(encoding value: some Encodable) throws(DatabaseError) -> IncomingDocument {
        let isIdentifiable = value is any Identifiable
        let hasOthers: Bool
        do {
            hasOthers = try unsafe encoder.encode(
                value, to: &writer,
                separating: { key in
                    unsafe ReservedNames.contain(key) || isIdentifiable && ValueIdentity.isKey(key)
                }, into: &otherWriter)
        } catch {
            writer.removeAll()
            otherWriter.removeAll()
            if let error = error as? FleeceError { throw DatabaseError(error) }
            throw DatabaseError(
                .invalidDocument,
                "A value of the type \(type(of: value)) cannot be encoded. \(error.sentence)",
                underlyingError: error)
        }
        let body = try finish()
        let others = try hasOthers ? finishOthers() : nil
        let isClaiming = others?.root.dictionary?.hasKey(beginningWith: ReservedNames.firstByte) == true
        var incoming = IncomingDocument(
            body,
            claims: isClaiming
                ? try others.map { (others) throws(DatabaseError) in try ReservedProperties(others) } : nil)
        // An `_id` that was encoded says the same as the `id` of a type that encodes it so.
        let coded = (isIdentifiable ? others : body.properties)?[ValueIdentity.key]
        incoming.identity =
            incoming.claims?.id.map { .id($0) }
            ?? ValueIdentity(value, coded: coded.flatMap { DocumentValue($0) })
        return incoming
    }

    /// The body that a value encodes to, which was read from the document `id`.
    ///
    /// - Throws: `invalidDocumentID` when its own `id` is another.
    func document<Value: Encodable>(encoding stored: Versioned<Value>) throws(DatabaseError)
        -> IncomingDocument
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
        var reserved = NamedValues<DocumentValue>()
        writer.beginDictionary()
        for (name, value) in properties {
            if ReservedNames.contain(name) {
                reserved[name] = value
            } else {
                writer.key(name)
                value.write(to: &writer, depth: 1)
            }
        }
        writer.endDictionary()
        let body = try finish()
        guard !reserved.isEmpty else { return IncomingDocument(body) }
        DocumentValue.write(reserved, to: &otherWriter)
        return IncomingDocument(body, claims: try ReservedProperties(finishOthers()))
    }

    private func finishOthers() throws(DatabaseError) -> FleeceDocument {
        FleeceDocument(trusting: try translating { () throws(FleeceError) in try otherWriter.finish() })
    }

    private func finish() throws(DatabaseError) -> DocumentBody {
        let bytes = try translating { () throws(FleeceError) in try writer.finish() }
        return try DocumentBody(new: FleeceDocument(trusting: bytes))
    }
}
