import Foundation

/// A note as the app's views see it.
struct Note: Codable, Sendable, Identifiable {
    /// The document's ID, as the type is Identifiable. Begins with the moment the note was made, so that notes are listed in
    /// that order without an index.
    let id: String
    var title: String
    var text = ""
    var tags: [String] = []
    var changed: Date

    /// A new note, made at `time`.
    init(_ title: String, text: String = "", tags: [String] = [], at time: Date) {
        id = time.ISO8601Format() + "-" + UUID().uuidString.prefix(8)
        (self.title, self.text, self.tags, changed) = (title, text, tags, time)
    }
}
