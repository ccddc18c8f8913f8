import RoostREST
import Testing

/// Pages of `_find`: by `limit` with `skip`, and by bookmarks.
@Suite struct FindPageTests {
    private static func ids(_ answer: TestRouter.Answer) -> [String] {
        (answer["docs"] as? [[String: Any]])?.compactMap { $0["_id"] as? String } ?? [answer.text]
    }

    /// 14 documents of different companies, in an order that is not that of their IDs, some with the same manager and grade. Few and
    /// many of them are found fastest by different indexes.
    private static func companies() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for (design, fields) in [
            ("company_manager", #""company","manager""#), ("manager", #""manager""#),
            ("grade", #"{"grade":"desc"}"#),
        ] {
            try await test.ask(
                "POST", "/db/_index", #"{"index":{"fields":[\#(fields)]},"ddoc":"\#(design)"}"#)
        }
        var seed = 2
        func random(_ count: Int) -> Int {
            seed = (seed &* 1_103_515_245 &+ 12_345) & 0x7fff_ffff
            return (seed >> 8) % count
        }
        let documents = (0..<14).map { number in
            let id = 100_000 + number + 1000 * random(800)
            let company = "\(Array("abcdefgh")[random(8)])\(100 + random(900))"
            let manager = random(2) == 0
            return #"{"_id":"\#(id)","company":"\#(company)","manager":\#(manager),"grade":\#(random(3))}"#
        }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
        return test
    }

    static let requests = [
        #""selector":{"company":{"$gt":"c"},"manager":{"$in":[true,false]}}"#,
        #""selector":{"company":{"$gt":"c"},"$or":[{"manager":true},{"manager":false}]}"#,
        #""selector":{"$or":[{"manager":true},{"company":{"$gt":"f"}}]}"#,
        #""selector":{"company":{"$gt":"c"},"manager":{"$gt":null}}"#,
        #""selector":{"company":{"$gt":"c"},"manager":true}"#, #""selector":{"grade":{"$gt":0}}"#,
        #""selector":{"company":{"$gt":"c"}},"sort":["manager"]"#,
        #""selector":{"company":{"$gt":"c"},"manager":{"$exists":true}},"sort":["manager"]"#,
        #""selector":{"company":{"$gt":"c"},"manager":{"$exists":true}},"sort":[{"manager":"desc"}]"#,
        #""selector":{"company":{"$gt":"c"},"grade":{"$gt":0}},"sort":[{"grade":"desc"}]"#,
    ]

    @Test(arguments: requests) func pagesGoOnWhereOthersEnd(request: String) async throws {
        let test = try await Self.companies()
        func page(_ more: String) async throws -> TestRouter.Answer {
            try await test.ask("POST", "/db/_find", "{\(request),\"fields\":[\"_id\"],\(more)}")
        }
        let all = Self.ids(try await page(#""limit":1000"#))
        #expect(all.count > 5)
        var (skipped, marked, bookmark) = ([String](), [String](), "nil")
        for number in 0...all.count / 5 {
            skipped += Self.ids(try await page(#""limit":5,"skip":\#(number * 5)"#))
            let answer = try await page(#""limit":5,"bookmark":"\#(bookmark)""#)
            marked += Self.ids(answer)
            bookmark = try #require(answer["bookmark"] as? String)
        }
        #expect(skipped == all)
        #expect(marked == all)
    }

    /// Of an index in the order asked for, a page is read and no more, though what it does not tell apart has an order of its own.
    @Test(arguments: [
        #""selector":{"company":{"$gt":"c"}},"sort":["company"],"use_index":"by""#,
        #""selector":{"company":{"$gt":"c"},"manager":{"$gt":null}},"sort":["company"]"#,
        #""selector":{"company":{"$gt":"c"},"manager":{"$gt":null}},"sort":[{"company":"desc"}]"#,
        #""selector":{"company":{"$gt":"c"},"manager":{"$gt":null}}"#,
        #""selector":{"manager":true,"company":{"$gt":"c"}},"sort":["company"]"#,
        #""selector":{"grade":{"$gt":0}},"sort":["grade"]"#, #""selector":{"grade":{"$gt":0}}"#,
        #""selector":{"grade":{"$gt":0}},"sort":[{"grade":"desc"}]"#, #""selector":{}"#,
        #""selector":{},"sort":["_id"]"#, #""selector":{},"sort":[{"_id":"desc"}]"#,
    ])
    func anIndexInOrderIsNotSorted(request: String) async throws {
        let test = try await Self.companies()
        try await test.ask("POST", "/db/_index", #"{"index":{"fields":["company"]},"ddoc":"by"}"#)
        let answer = try await test.ask("POST", "/db/_explain", "{\(request),\"limit\":5}")
        let plan = try #require(answer["plan"] as? [String])
        #expect(!plan.contains { $0.contains("SORT") }, "\(answer.text)")
    }

    /// What an answer wraps around a document adds to its depth, and is none of it.
    @Test func documentsAsDeepAsMayBeStoredAreFound() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let deep = String(repeating: "[", count: 511) + String(repeating: "]", count: 511)
        try await test.put("/db/deep", #"{"n":1,"v":\#(deep)}"#)
        for request in [
            #"{"selector":{}}"#, #"{"selector":{"n":1},"sort":["n"]}"#, #"{"selector":{},"fields":["v"]}"#,
        ] {
            let answer = try await test.ask("POST", "/db/_find", request)
            #expect(answer.status == 200 && answer.text.contains(deep), "\(request)")
        }
        let rows = try await test.ask("POST", "/db/_query", #"{"statement":"SELECT v FROM _ ORDER BY n"}"#)
        #expect(rows.status == 200 && rows.text.contains(deep))
    }

    @Test func aBookmarkOfTheEndStaysThere() async throws {
        let test = try await TestRouter.stars()
        func page(_ more: String) async throws -> TestRouter.Answer {
            try await test.ask("POST", "/db/_find", #"{"selector":{},"fields":["_id"],\#(more)}"#)
        }
        let last = try await page(#""skip":6"#)
        #expect(Self.ids(last) == ["d7", "d8"] && last["bookmark"] as? String == "8")
        for _ in 0..<2 {
            let empty = try await page(#""bookmark":"8""#)
            #expect(Self.ids(empty) == [] && empty["bookmark"] as? String == "8")
        }
        #expect(try await page(#""skip":9"#)["bookmark"] as? String == "nil")
        // What is skipped is skipped from the bookmark on.
        let further = try await page(#""bookmark":"2","skip":3,"limit":2"#)
        #expect(Self.ids(further) == ["d6", "d7"] && further["bookmark"] as? String == "7")
    }

    @Test(arguments: [
        #""conflicts":"yes""#, #""conflicts":1.2"#, #""r":[2]"#, #""r":"2""#, #""r":0"#, #""w":true"#,
        #""bookmark":7"#, #""bookmark":{}"#, #""update":"true""#, #""stable":1"#, #""limit":"5""#,
        #""skip":-3"#, #""sort":"a""#, #""fields":[[]]"#,
    ])
    func whatIsOfTheWrongTypeIsRefused(member: String) async throws {
        let test = try await TestRouter.stars()
        let answer = try await test.ask("POST", "/db/_find", #"{"selector":{},\#(member)}"#)
        #expect(answer.status == 400, "\(answer.text)")
        let usual =
            #"{"selector":{},"r":1,"w":2,"update":true,"stable":false,"conflicts":true,"bookmark":null}"#
        #expect(try await test.ask("POST", "/db/_find", usual).status == 200)
    }
}
