import Fleece

/// Makes bodies from what is to be saved, one after the other, keeping its memory between them.
///
/// Belongs to one task at a time.
final class BodyMaker {
    private var writer = FleeceWriter(capacity: 4096)

    /// The body with the content of a JSON text.
    ///
    /// - Throws: `invalidDocument` for text that is not one JSON object, with line and column; `limitExceeded` for
    ///   one that is nested too deeply or too large.
    func body(json: some Sequence<UInt8>) throws(DatabaseError) -> DocumentBody {
        try body { (writer) throws(FleeceError) in try writer.write(json: json) }
    }

    /// The body that `write` writes, which must be a dictionary.
    func body(_ write: (inout FleeceWriter) throws(FleeceError) -> Void) throws(DatabaseError) -> DocumentBody
    {
        do throws(FleeceError) {
            try write(&writer)
        } catch {
            writer.removeAll()
            throw DatabaseError(error)
        }
        return try finish()
    }

    /// The body that `value` encodes to, and the ID that it has in a ``DocumentIdentifier``. Dates become ISO 8601 text,
    /// URLs text, and data stays data.
    ///
    /// - Throws: `invalidDocument` when that is not an object, or when encoding fails.
    func body(encoding value: some Encodable) throws(DatabaseError) -> (body: DocumentBody, id: String?) {
        let found = FoundIdentifier()
        do {
            var encoder = FleeceEncoder()
            encoder.userInfo[DocumentIdentifier.key] = found
            try encoder.encode(value, to: &writer)
        } catch {
            writer.removeAll()
            if let error = error as? FleeceError { throw DatabaseError(error) }
            throw DatabaseError(
                .invalidDocument, "A value of the type \(type(of: value)) cannot be encoded.",
                underlying: error)
        }
        let body = try finish()
        guard let property = found.property else { return (body, nil) }
        return (try self.body(body, leavingOut: [property]), found.id)
    }

    /// `body` without the properties that have one of `keys`.
    func body(_ body: DocumentBody, leavingOut keys: [String]) throws(DatabaseError) -> DocumentBody {
        writer.beginDictionary()
        for (key, value) in body.dictionary where !keys.contains(key) {
            writer.key(key)
            writer.write(value)
        }
        writer.endDictionary()
        return try finish()
    }

    private func finish() throws(DatabaseError) -> DocumentBody {
        let bytes = try bodyCall { () throws(FleeceError) in try writer.finish() }
        return try DocumentBody(new: FleeceDocument(trusting: bytes))
    }
}
