import Fleece

/// The order in which an object's members stand in a JSON text, which the parsed value does not keep.
///
/// Bodies of a multipart document belong to its attachments in that order (CouchDB's API, "multipart/related").
enum MemberOrder {
    /// The names of the members of the object under the top-level member `name`; none where there is no such object. O(n).
    ///
    /// - Parameter text: JSON that has been parsed without an error.
    static func names(under name: String, in text: [UInt8]) -> [String] {
        members(of: text[...]).filter { $0.name == name }.flatMap { members(of: $0.value).map(\.name) }
    }

    /// The names of the members of the object that `text` is; none where it is something else. O(n).
    ///
    /// - Parameter text: JSON that has been parsed without an error.
    static func names(in text: [UInt8]) -> [String] { members(of: text[...]).map(\.name) }

    private static func members(
        of text: ArraySlice<UInt8>
    ) -> [(name: String, value: ArraySlice<UInt8>)] {
        (JSONParts.members(of: text) ?? []).map { ((try? FleeceText.string($0.name)) ?? "", $0.value) }
    }
}
