import Fleece
import Roost
import RoostQuery

/// What a run asks of a collection: a view's rows and sums, and queries that indexes answer where there are some.
struct DerivedQuestions {
    let notes: DocumentCollection

    static let view = MapReduceView<FleeceValue, FleeceValue>("by-tag", version: "1", reduce: .sum) {
        note, emit in
        for tag in note["tags"].array ?? .empty { emit(tag, note["v"]) }
    }

    /// The indexes there may be.
    static let indexes = [
        ValueIndex("by-value", on: "v"),
        ValueIndex("by-kind", on: "kind", summing: "v"),
        ValueIndex("tagged", unnesting: "tags"),
        ValueIndex("great", on: "v, kind", where: "v >= 20"),
    ]

    /// What is answered otherwise than the model says; `nil` where all is well.
    ///
    /// - Parameter moment: the moment that the view is asked about; `nil` for the present, which queries are asked about, too.
    func difference(from model: DerivedModel, at moment: CollectionSnapshot? = nil) throws -> String? {
        let view = notes.view(Self.view)
        var all = ViewQuery()
        all.reduces = false
        let rows = try view.rows(all, at: moment)
        if let found = Self.difference(
            "the view's rows", rows.map { "\($0.key.json()) \($0.id) \($0.value.json())" }, model.rows)
        {
            return found
        }
        let sums = try view.groups(by: .exact, at: moment).map {
            "\($0.key?.json() ?? "?") \($0.value.json())"
        }
        if let found = Self.difference("the view's sums", sums, model.sums) { return found }
        if moment != nil { return nil }
        let queries: [(text: String, rows: [String])] = [
            ("SELECT v, META().id FROM _ WHERE v >= 20 ORDER BY v, META().id", model.greatest),
            ("SELECT kind, count(*), sum(v) FROM _ GROUP BY kind ORDER BY kind", model.totals),
            (
                "SELECT META().id FROM _ WHERE ANY t IN tags SATISFIES t = 'sea' END ORDER BY META().id",
                model.tagged
            ),
        ]
        for query in queries {
            let found = try notes.query(query.text).fetch().map { row in
                (0..<row.count).map { row[$0].string ?? row[$0].json() }.joined(separator: " ")
            }
            if let found = Self.difference(query.text, found, query.rows) { return found }
        }
        return nil
    }

    private static func difference(_ what: String, _ found: [String], _ expected: [String]) -> String? {
        guard found != expected else { return nil }
        return "\(what): \(found.filter { !expected.contains($0) }) too many, "
            + "\(expected.filter { !found.contains($0) }) missing, of \(expected.count)"
    }
}
