import Fleece
import Roost

/// What views and queries have to answer: every document of a moment mapped anew, in plain arrays.
struct DerivedModel: Equatable {
    /// The tags that documents have, as JSON, in CouchDB's order.
    static let tags = ["null", "3", #""gable""#, #""nest""#, #""sea""#]
    static let kinds = ["bird", "owl", "swift"]

    private struct Note {
        let id: String
        let value: Int
        let kind: String
        let tags: [String]
    }

    /// A row for each tag of each document: the tag, the document's ID and its value.
    let rows: [String]
    /// The sum of the values of each tag's rows.
    let sums: [String]
    /// The documents whose value is 20 at least, by it.
    let greatest: [String]
    /// The number of documents of each kind, and the sum of their values.
    let totals: [String]
    /// The IDs of documents that have the tag "sea".
    let tagged: [String]

    init(_ snapshot: CollectionSnapshot) throws {
        // In the order of their IDs.
        let notes = try snapshot.documents().map { document in
            Note(
                id: document.id, value: document["v"].int ?? .min, kind: document["kind"].string ?? "?",
                tags: (document["tags"].array ?? .empty).map { $0.json() })
        }
        var (rows, sums) = ([String](), [String]())
        for tag in Self.tags {
            let found = notes.flatMap { note in note.tags.filter { $0 == tag }.map { _ in note } }
            rows += found.map { "\(tag) \($0.id) \($0.value)" }
            if !found.isEmpty { sums.append("\(tag) \(found.reduce(0) { $0 + $1.value })") }
        }
        self.rows = rows
        self.sums = sums
        greatest = notes.filter { $0.value >= 20 }.sorted { ($0.value, $0.id) < ($1.value, $1.id) }
            .map { "\($0.value) \($0.id)" }
        totals = Self.kinds.compactMap { kind in
            let found = notes.filter { $0.kind == kind }
            return found.isEmpty ? nil : "\(kind) \(found.count) \(found.reduce(0) { $0 + $1.value })"
        }
        tagged = notes.filter { $0.tags.contains(#""sea""#) }.map(\.id)
    }
}
