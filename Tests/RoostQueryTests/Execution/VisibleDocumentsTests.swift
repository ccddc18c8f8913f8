import Fleece
import Roost
import Testing

@testable import RoostQuery

/// Queries that may know of some documents only answer as if there were no others, and read no others.
@Suite struct VisibleDocumentsTests {
    /// The documents that are visible: those with an ID in a list.
    private final class Visible: VisibleDocuments {
        let collection: DocumentCollection
        private let ids: Set<String>
        private let snapshot: CollectionSnapshot

        init(_ collection: DocumentCollection, _ ids: Set<String>) throws {
            self.collection = collection
            self.ids = ids
            snapshot = try collection.snapshot()
        }

        func documents(in selection: DocumentSelection) throws -> () throws -> Document? {
            let cursor = try snapshot.cursor(selection)
            return {
                while let document = try cursor.next() {
                    if self.ids.contains(document.id) { return document }
                }
                return nil
            }
        }

        func document(_ id: String) throws -> Document? { ids.contains(id) ? try snapshot.document(id) : nil }
    }

    private static let visible = (0..<6).map { number in
        #"{"_id":"v\#(number)","n":\#(number),"kind":"\#(number % 2 == 0 ? "a" : "b")","text":"owl number \#(number)","tags":["x",\#(number)]}"#
    }
    /// A pattern that gives up on their texts would fail a query that looks at them.
    private static let hidden = (0..<40).map { number in
        #"{"_id":"\#(["a", "v2", "z"][number % 3])-\#(number)","n":\#(number % 7),"kind":"c","text":"owl owl secret aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\#(number)","tags":["secret"]}"#
    }

    private static let statements = [
        "SELECT META().id FROM _ ORDER BY META().id",
        "SELECT META().id FROM _ ORDER BY META().id DESC LIMIT 2",
        "SELECT META().id FROM _ WHERE n = 3", "SELECT META().id FROM _ WHERE n BETWEEN 2 AND 5 ORDER BY n",
        "SELECT META().id FROM _ ORDER BY n DESC LIMIT 3 OFFSET 1", "SELECT count(*) FROM _",
        "SELECT count(*) FROM _ WHERE n > 1",
        "SELECT kind, count(*), sum(n) FROM _ GROUP BY kind ORDER BY kind",
        "SELECT DISTINCT kind FROM _ ORDER BY kind", "SELECT min(n), max(n) FROM _",
        "SELECT META().id FROM _ WHERE REGEXP_LIKE(text, '^(?=owl)(a|a|a|.)*$') ORDER BY META().id",
        "SELECT META().id FROM _ WHERE text LIKE '%number 4%'",
        "SELECT META().id FROM _ WHERE text LIKE '%secret%'",
        "SELECT META().id FROM _ WHERE CONTAINS(text, 'secret')",
        "SELECT META().id FROM _ WHERE MATCH(words, 'owl') ORDER BY META().id",
        "SELECT META().id FROM _ WHERE MATCH(words, 'secret')",
        "SELECT META().id FROM _ WHERE MATCH(words, 'owl AND NOT secret') AND n < 3 ORDER BY n",
        "SELECT count(*) FROM _ WHERE MATCH(words, 'owl')",
        "SELECT META().id FROM _ WHERE META().id = 'a-0'",
        "SELECT META().id FROM _ WHERE META().id IN ['v1', 'a-0', 'v2-1']",
        "SELECT META().id FROM _ WHERE META().id >= 'v2' AND META().id < 'v4'",
        "SELECT META().id FROM _ WHERE META().id LIKE 'v2%'",
        "SELECT a.n, b.n FROM _ a JOIN _ b ON a.n = b.n ORDER BY a.n",
        "SELECT a.n, META(b).id FROM _ a LEFT JOIN _ b ON META(b).id = 'a-0' ORDER BY a.n",
        "SELECT n, (SELECT count(*) FROM _ i WHERE i.n > o.n) FROM _ o ORDER BY n",
        "SELECT n FROM _ WHERE EXISTS (SELECT 1 FROM _ i WHERE i.kind = 'c')",
        "SELECT t FROM _ UNNEST tags AS t ORDER BY t",
        "SELECT n FROM _ WHERE ANY t IN tags SATISFIES t = 'secret' END",
        "SELECT n FROM _ WHERE n = 1 OR kind = 'b' ORDER BY n",
        "SELECT id FROM (SELECT META().id AS id FROM _) AS q ORDER BY id",
    ]

    private static func indexed(_ documents: [String]) throws -> QueryFixture {
        let fixture = try QueryFixture(documents)
        let collection = try fixture.database.defaultCollection
        try collection.createIndex("n", on: "n")
        try collection.createIndex("kind", on: "kind, n")
        try collection.createTextIndex("words", on: "text", language: .english)
        try collection.createTrigramIndex("trigrams", on: "text")
        return fixture
    }

    @Test(arguments: statements) func theyAnswerAsIfThereWereNoOthers(_ statement: String) throws {
        let whole = try Self.indexed(Self.visible + Self.hidden)
        let alone = try Self.indexed(Self.visible)
        let visible = try Visible(
            whole.database.defaultCollection, Set((0..<6).map { "v\($0)" }))
        let cursor = try whole.database.query(statement).cursor(
            in: whole.database.snapshot(), visible: visible
        ) { false }
        var rows: [ResultRow] = []
        while let row = try cursor.next() { rows.append(row) }
        #expect(try QueryFixture.texts(rows) == alone.rows(statement), "\(statement)")
        #expect(cursor.indexRowsRead == 0)
        // Each row of a source may have the six of another one read.
        #expect(cursor.documentsRead <= 6 + 6 * 6, "\(statement)")
    }

    /// What others would fail by does not fail it.
    @Test func nothingIsEvaluatedOfOthers() throws {
        let whole = try Self.indexed(Self.visible + Self.hidden)
        let statement = "SELECT META().id FROM _ WHERE REGEXP_LIKE(text, '^(?=.*secret)(?:.|.|.|.|.|.)*\\n')"
        #expect(throws: DatabaseError.self) { try whole.rows(statement) }
        let visible = try Visible(whole.database.defaultCollection, ["v1"])
        let cursor = try whole.database.query(statement).cursor(
            in: whole.database.snapshot(), visible: visible
        ) { false }
        #expect(try cursor.next() == nil && cursor.documentsRead == 1)
    }

    @Test func otherCollectionsHaveNothingVisible() throws {
        let fixture = try QueryFixture(Self.visible)
        try fixture.fill("other", [#"{"n":1}"#])
        let visible = try Visible(fixture.database.defaultCollection, ["v1"])
        for statement in ["SELECT n FROM other", "SELECT o.n FROM _ JOIN other o ON o.n = _.n"] {
            let cursor = try fixture.database.query(statement).cursor(
                in: fixture.database.snapshot(), visible: visible
            ) { false }
            #expect(try cursor.next() == nil)
        }
    }

    /// A row of a view that is omitted takes as many decisions as no row.
    @Test func aRowThatIsLeftOutShowsByNothing() throws {
        let fixture = try QueryFixture(Self.visible + Self.hidden)
        let view = try fixture.database.defaultCollection.view(
            MapReduceView<String, Int>("ids", version: "1", reduce: .sum) { document, emit in
                emit(document.id, 1)
            })
        func decisions(_ key: String, _ grouping: ViewQuery.Grouping?) throws -> Int {
            var query = ViewQuery()
            let keys = try FleeceDocument(
                json: "[\(Array(repeating: "\"\(key)\"", count: 5).joined(separator: ","))]")
            query.keys = Array(keys.root.array ?? .empty)
            var count = 0
            if let grouping {
                query.grouping = grouping
                let found = try view.groups(query, at: nil, from: nil, limit: .max) { id in
                    count += 1
                    return id.hasPrefix("v") && id.utf8.count == 2
                }
                #expect(found.groups.isEmpty)
            } else {
                let found = try view.rows(query, at: nil, after: nil) { id in
                    count += 1
                    return id.hasPrefix("v") && id.utf8.count == 2
                }
                #expect(found.isEmpty)
            }
            return count
        }
        for grouping in [nil, .exact] as [ViewQuery.Grouping?] {
            #expect(try decisions("a-0", grouping) == 5)
            #expect(try decisions("a-999", grouping) == 5)
        }
    }
}
