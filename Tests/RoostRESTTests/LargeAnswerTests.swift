import Foundation
import RoostREST
import RoostWire
import Testing

/// Answers that are longer than what is sent at a time: whole, in order, of one moment, and never in memory as a whole.
@Suite struct LargeAnswerTests {
    private static let count = 1_700

    /// Documents `10000` and on, each with its number.
    private func filled() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        try await add(0..<Self.count, to: test)
        return test
    }

    private func add(_ numbers: Range<Int>, to test: TestRouter) async throws {
        let documents = numbers.map {
            #"{"_id":"\#(10_000 + $0)","n":\#($0),"text":"\#(String(repeating: "x", count: 60))"}"#
        }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
    }

    /// What is answered, while other documents are saved after the first piece, and how long the longest piece was.
    private func read(
        _ test: TestRouter, _ method: String, _ target: String, _ body: String? = nil
    ) async throws -> (answer: TestRouter.Answer, longest: Int) {
        let request = HTTPRequest(
            method, target, headers: ["Content-Type": "application/json"],
            body: body.map { BytesBody(Array($0.utf8)) })
        let response = await test.router.respond(to: request, as: .admin)
        guard case .stream(let stream, nil) = response.body else {
            throw CocoaError(.featureUnsupported)
        }
        var bytes = try #require(try await stream.next())
        var longest = bytes.count
        try await add(20_000..<20_100, to: test)
        while let piece = try await stream.next() {
            longest = max(longest, piece.count)
            bytes += piece
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return (TestRouter.Answer(status: response.status, headers: response.headers, text: text), longest)
    }

    private static func ids(_ list: Any?) -> [String] {
        (list as? [[String: Any]] ?? []).compactMap { $0["_id"] as? String ?? $0["id"] as? String }
    }

    private static let all = (0..<count).map { "\(10_000 + $0)" }

    @Test func findsManyDocuments() async throws {
        let test = try await filled()
        let request = #"{"selector":{"n":{"$gte":0}},"limit":100000,"execution_stats":true}"#
        let (answer, longest) = try await read(test, "POST", "/db/_find", request)
        #expect(Self.ids(answer["docs"]) == Self.all)
        #expect(answer["bookmark"] as? String == "\(Self.count)")
        let statistics = try #require(answer["execution_stats"] as? [String: Any])
        #expect(statistics["results_returned"] as? Int == Self.count)
        #expect(longest < 40_000 && answer.text.utf8.count > 3 * longest)
        // Sorting has to see all first, and what comes of it is sent in the same way.
        let sorted = #"{"selector":{"n":{"$lt":10000}},"sort":[{"n":"desc"}],"limit":100000}"#
        let (descending, piece) = try await read(test, "POST", "/db/_find", sorted)
        #expect(Self.ids(descending["docs"]) == Self.all.reversed() && piece < 40_000)
    }

    @Test(arguments: [
        ("group=true", Array(0..<count)),
        ("group=true&descending=true", Array((0..<count).reversed())),
        ("group=true&skip=3&limit=1000", Array(3..<1_003)),
        ("group=true&limit=500", Array(0..<500)),
        ("group=true&startkey=[100]&endkey=[1599]&inclusive_end=false", Array(100..<1_599)),
        (
            "group_level=1&descending=true&skip=600&limit=600",
            Array(((count - 1_200)..<(count - 600)).reversed())
        ),
    ])
    func reducesManyGroups(query: String, expected: [Int]) async throws {
        let test = try await filled()
        let views =
            #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":["[]",[".n"]],"value":[".n"]}]},"reduce":"_sum"}}}"#
        _ = try await test.put("/db/_design/v", views)
        let (answer, _) = try await read(test, "GET", "/db/_design/v/_view/n?\(query)")
        let rows = try #require(answer["rows"] as? [[String: Any]])
        #expect(rows.map { ($0["key"] as? [Int])?.first } == expected)
        #expect(rows.map { $0["value"] as? Int } == expected)
    }

    @Test func reducesManyKeys() async throws {
        let test = try await filled()
        let views =
            #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":[".n"],"value":[".n"]}]},"reduce":"_sum"}}}"#
        _ = try await test.put("/db/_design/v", views)
        let keys = (0..<1_200).map { ($0 * 7) % Self.count }
        let (answer, _) = try await read(
            test, "POST", "/db/_design/v/_view/n?group=true&skip=1", "{\"keys\":\(keys)}")
        let rows = try #require(answer["rows"] as? [[String: Any]])
        #expect(rows.map { $0["value"] as? Int } == Array(keys.dropFirst()))
    }

    /// Several queries in one request: one answer after another, none of them in memory, and all as of the beginning.
    @Test(arguments: ["_all_docs", "_design/v/_view/n"])
    func answersManyQueries(list: String) async throws {
        let test = try await filled()
        let views = #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":[".n"],"value":null}]}}}}"#
        _ = try await test.put("/db/_design/v", views)
        let queries =
            #"{"queries":[{"endkey":"2"},{"descending":true,"startkey":"2"},{"limit":0},{"limit":1}]}"#
        let (answer, longest) = try await read(test, "POST", "/db/\(list)/queries", queries)
        let results = try #require(answer["results"] as? [[String: Any]])
        let rows = results.map { Self.ids($0["rows"]) }
        #expect(rows == [Self.all, Self.all.reversed(), [], ["10000"]])
        #expect(longest < 80_000 && answer.text.utf8.count > 2 * longest)
        let none = try await test.ask("POST", "/db/\(list)/queries", #"{"queries":[]}"#)
        #expect(none.status == 200 && none.text == "{\"results\":[]}\n")
        let wrong = #"{"queries":[{},{"limit":-1}]}"#
        #expect(try await test.ask("POST", "/db/\(list)/queries", wrong).status == 400)
    }

    @Test(arguments: ["", "&feed=longpoll", "&filter=_selector"])
    func changesGoBackwards(more: String) async throws {
        let test = try await filled()
        let (answer, longest) = try await read(
            test, "POST", "/db/_changes?descending=true\(more)", #"{"selector":{"n":{"$gte":0}}}"#)
        #expect(Self.ids(answer["results"]) == Self.all.reversed())
        #expect(longest < 40_000 && answer.text.utf8.count > 3 * longest)
        #expect((answer["last_seq"] as? String)?.hasPrefix("\(Self.count)-") == true)
        let some = try await test.ask("GET", "/db/_changes?descending=true&limit=2")
        #expect(Self.ids(some["results"]) == ["30099", "30098"])
    }

    /// How many rows come before the first one, whatever of them is sent.
    @Test(arguments: [false, true])
    func listsTellTheirPlace(hasTombstones: Bool) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for id in ["A", "_design/a", "_design/b", "c", "d", "e"] { _ = try await test.put("/db/\(id)", "{}") }
        if hasTombstones {
            for id in ["B", "bb", "dd"] {
                let revision = try await test.put("/db/\(id)", "{}")
                try await test.ask("DELETE", "/db/\(id)?rev=\(revision)")
            }
        }
        let cases: [(String, Int, Int?)] = [
            ("_all_docs", 6, 0), ("_all_docs?skip=2&limit=1", 6, 2), ("_all_docs?startkey=%22d%22", 6, 4),
            ("_all_docs?startkey=%22cc%22&skip=1", 6, 5), ("_all_docs?startkey=%22d%22&skip=9", 6, 6),
            ("_all_docs?endkey=%22d%22", 6, 0), ("_all_docs?key=%22e%22", 6, 5),
            ("_all_docs?startkey=%22z%22", 6, 6), ("_all_docs?startkey=1", 6, 0),
            ("_all_docs?startkey=%7B%7D", 6, 6), ("_all_docs?descending=true", 6, 0),
            ("_all_docs?descending=true&startkey=%22d%22", 6, 1),
            ("_all_docs?descending=true&startkey=%22cc%22&skip=1", 6, 3),
            ("_all_docs?keys=%5B%22d%22%5D", 6, nil), ("_design_docs", 2, 1),
            ("_design_docs?descending=true", 2, 3),
        ]
        for (target, total, offset) in cases {
            let answer = try await test.ask("GET", "/db/\(target)")
            #expect(answer["total_rows"] as? Int == total, "\(target): \(answer.text)")
            #expect(answer["offset"] as? Int == offset, "\(target): \(answer.text)")
        }
    }

    /// Backwards there is nothing to wait for.
    @Test func feedsThatGoBackwardsEnd() async throws {
        let test = try await filled()
        let (answer, _) = try await read(test, "GET", "/db/_changes?feed=continuous&descending=true")
        let lines = answer.text.split(separator: "\n")
        #expect(lines.count == Self.count + 1 && lines.last?.hasPrefix("{\"last_seq\":") == true)
        #expect(lines.first?.contains(#""id":"11699""#) == true)
    }

    /// A filter that lets none through comes to its end, too.
    @Test func whatIsFilteredOutIsPassedOver() async throws {
        let test = try await filled()
        let answer = try await test.ask(
            "POST", "/db/_changes?descending=true&filter=_selector", #"{"selector":{"n":{"$lt":3}}}"#)
        #expect(Self.ids(answer["results"]) == ["10002", "10001", "10000"])
        let none = try await test.ask(
            "POST", "/db/_changes?descending=true&filter=_doc_ids", #"{"doc_ids":[]}"#)
        #expect(none.status == 200 && Self.ids(none["results"]).isEmpty)
    }
}
