import Fleece

/// JSON texts that come with a request.
enum FleeceText {
    /// Parses a body.
    ///
    /// - Throws: 400 in CouchDB's words.
    static func parse(_ bytes: some Collection<UInt8>) throws -> FleeceDocument {
        do throws(FleeceError) {
            return try FleeceDocument(json: bytes)
        } catch {
            throw HTTPFailure.badRequest("invalid UTF-8 JSON: \(error.message)")
        }
    }

    /// The text that a JSON string stands for.
    static func string(_ json: ArraySlice<UInt8>) throws -> String {
        try FleeceDocument(json: json).root.string ?? ""
    }
}
