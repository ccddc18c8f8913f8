import Roost
import Testing

@testable import RoostQuery

/// A query that is prepared once is executed in the frame of the execution before: it finds nothing of that.
@Suite struct FrameReuseTests {
    private let fixture: QueryFixture
    private let notes: DocumentCollection

    init() throws {
        fixture = try QueryFixture([
            #"{"kind":"note","n":1,"place":"north"}"#, #"{"kind":"note","n":2}"#,
            #"{"kind":"word","word":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}"#,
        ])
        notes = try fixture.database.defaultCollection
    }

    private func texts(_ query: DatabaseQuery, _ parameters: [String: DocumentValue] = [:]) throws -> [String]
    {
        try QueryFixture.texts(try query.with(parameters).fetch())
    }

    @Test func theFrameIsTheSame() throws {
        let query = try fixture.database.query("SELECT n FROM _")
        let first = query.prepared.frames.take()
        #expect(first == nil)
        _ = try query.fetch()
        let second = try #require(query.prepared.frames.take())
        query.prepared.frames.giveBack(second)
        _ = try query.fetch()
        #expect(query.prepared.frames.take() === second)
        #expect(query.prepared.frames.take() == nil)
    }

    @Test func parametersOfTheLastRunAreNotThoseOfTheNext() throws {
        let query = try fixture.database.query("SELECT $a AS a, $b AS b FROM _ WHERE n = 1")
        #expect(try texts(query, ["a": 1, "b": "two"]) == [#"[1,"two"]"#])
        #expect(try texts(query, ["a": .null, "b": .array([3])]) == ["[null,[3]]"])
        #expect(QueryFixture.message { _ = try texts(query, ["b": 1]) }.contains("$a is not set"))
    }

    @Test func aSetThatWasComputedOnceIsComputedAnew() throws {
        let query = try fixture.database.query(
            "SELECT n FROM _ WHERE n = (SELECT max(n) FROM _ WHERE kind = 'note')")
        #expect(try texts(query) == ["2"])
        try notes.save(json: #"{"kind":"note","n":7}"#, id: "seven")
        #expect(try texts(query) == ["7"])
    }

    @Test func propertiesOfTheLastDocumentAreNotThoseOfTheNext() throws {
        let query = try fixture.database.query(
            "SELECT place, n FROM _ WHERE kind = 'note' ORDER BY n DESC LIMIT 1")
        #expect(try texts(query) == ["[MISSING,2]"])
        try notes.save(json: #"{"kind":"note","n":3,"place":"south"}"#, id: "three")
        #expect(try texts(query) == [#"["south",3]"#])
        try notes.delete("three")
        #expect(try texts(query) == ["[MISSING,2]"])
        // A row that no document was joined to.
        let joined = try fixture.database.query(
            "SELECT a.n, b.place FROM _ AS a LEFT JOIN _ AS b ON b.n = a.n AND b.place = $place WHERE a.n = 1"
        )
        #expect(try texts(joined, ["place": "north"]) == [#"[1,"north"]"#])
        #expect(try texts(joined, ["place": "nowhere"]) == ["[1,MISSING]"])
    }

    @Test func aFailureEndsOneExecution() throws {
        let query = try fixture.database.query("SELECT word FROM _ WHERE regexp_like(word, $pattern)")
        #expect(throws: DatabaseError.self) { try texts(query, ["pattern": "(a+)+b(a+)+c"]) }
        #expect(try texts(query, ["pattern": "^b"]) == [])
        #expect(try texts(query, ["pattern": "a!$"]).count == 1)
    }

    @Test func cursorsThatAreOpenAtOnceHaveFramesOfTheirOwn() throws {
        let query = try fixture.database.query("SELECT n, $x AS x FROM _ WHERE kind = 'note' ORDER BY n")
        let (first, second) = (try query.with(["x": 1]).cursor(), try query.with(["x": 2]).cursor())
        var rows: [ResultRow] = []
        for cursor in [first, second, first, second] { rows.append(try #require(try cursor.next())) }
        #expect(try QueryFixture.texts(rows) == ["[1,1]", "[1,2]", "[2,1]", "[2,2]"])
    }

    /// What a column asks for is answered while the row is written that it is of.
    @Test func aQueryWithinAColumnHasAWriterOfItsOwn() throws {
        let query = try fixture.database.query(
            "SELECT n, (SELECT b.place, (SELECT count(*) FROM _ AS c WHERE c.n >= b.n) AS count FROM _ AS b WHERE b.n = a.n) "
                + "AS others FROM _ AS a WHERE n = 1")
        for _ in 0..<2 {
            #expect(try texts(query) == [#"[1,[{"count":2,"place":"north"}]]"#])
        }
    }

    /// A long row leaves no memory behind that is kept.
    @Test func muchMemoryIsGivenBack() throws {
        let frame = Frame(DocumentProgram(Schema(NoCollections())).program)
        let bytes = [UInt8](repeating: 1, count: 200_000)
        for _ in 0..<3 {
            for _ in 0..<2_000 { _ = frame.arena.copy(bytes) }
            #expect(frame.arena.isExhausted)
            frame.clear()
            #expect(!frame.arena.isExhausted)
            let copy = frame.arena.copy([1, 2, 3])
            #expect(copy.array == [1, 2, 3])
        }
    }
}
