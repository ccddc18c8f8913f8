import Fleece

/// Names at the top level of a document that mean something to CouchDB's protocol, and what becomes of them in a body
/// that is to be saved.
///
/// `_id`, `_rev` and `_deleted` may repeat what is true of the document anyway, as they do in JSON that CouchDB wrote or
/// `Document.json(includingMetadata:)` made; they are left out of what is stored. Everything else is refused: were it
/// stored, no peer could tell it from the protocol's own.
enum ReservedNames {
    static let id = "_id"
    static let revision = "_rev"
    static let deleted = "_deleted"
    static let all = [id, revision, "_sequence", deleted, "_removed", "_attachments"]

    /// Those that `properties` has.
    static func present(in properties: FleeceDocument) -> [String] {
        guard let dictionary = properties.root.dictionary, dictionary.count > 0,
            mayHaveUnderscore(properties.bytes)
        else { return [] }
        return all.filter { dictionary[$0].exists }
    }

    /// Whether an underscore occurs at all; it rarely does, and looking is cheaper than six searches.
    private static func mayHaveUnderscore(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.span.contains(UInt8(ascii: "_"))
    }
}

extension Span<UInt8> {
    /// Whether `byte` is among them.
    fileprivate func contains(_ byte: UInt8) -> Bool {
        for index in indices where self[index] == byte { return true }
        return false
    }
}
