import Foundation
import Roost
import Testing

@testable import RoostREST

/// Views and `_find` of somebody who sees no more than their channels.
@Suite struct ChannelQueryTests {
    private static let design = #"""
        {"language":"roost","views":{
          "n":{"map":{"where":["IS NOT",[".n"],["MISSING"]],"emit":[{"key":[".n"],"value":[".link"]}]}},
          "sum":{"map":{"emit":[{"key":["%",[".n"],2],"value":[".n"]}]},"reduce":"_sum"}}}
        """#

    /// Documents n0, n1, … of which ann sees every third; n1 and n2 are hidden, and all link to n1.
    private func router(_ count: Int) async throws -> TestRouter {
        let router = try await channelRouter()
        _ = try await router.put("/db/_design/v", Self.design)
        let docs = (0..<count).map { number in
            let channel = number % 3 == 0 ? "!" : "secret"
            return #"{"_id":"n\#(number)","n":\#(number),"channels":["\#(channel)"],"link":{"_id":"n1"}}"#
        }
        _ = try await router.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(docs.joined(separator: ","))]}")
        return router
    }

    private func ids(_ answer: TestRouter.Answer) throws -> [String] {
        try #require(answer["rows"] as? [[String: Any]], "\(answer.text)").compactMap { $0["id"] as? String }
    }

    @Test(arguments: [
        ("", ["n0", "n3", "n6", "n9"]), ("?descending=true", ["n9", "n6", "n3", "n0"]),
        ("?skip=1&limit=2", ["n3", "n6"]), ("?limit=0", []), ("?skip=9", []),
        ("?startkey=1&endkey=8", ["n3", "n6"]), ("?key=1", []), ("?keys=[6,1,0]", ["n6", "n0"]),
        ("?limit=3&startkey=4", ["n6", "n9"]),
    ])
    func aViewHasRowsOfSeenDocumentsOnly(query: String, expected: [String]) async throws {
        let router = try await router(11)
        let answer = try await router.ask("GET", "/db/_design/v/_view/n\(query)", as: ann)
        #expect(answer.status == 200)
        #expect(try ids(answer) == expected)
        #expect(answer.text.hasPrefix("{\"total_rows\":null,\"offset\":null,"))
        let queries = try await router.ask(
            "POST", "/db/_design/v/_view/n/queries", #"{"queries":[{"skip":1},{"limit":1}]}"#, as: ann)
        let results = try #require(queries["results"] as? [[String: Any]])
        #expect(results.map { ($0["rows"] as? [Any])?.count } == [3, 1])
    }

    /// More than a page holds, in which keys come again.
    @Test(arguments: [false, true]) func rowsOfManyKeysComeInTheirOrder(isDescending: Bool) async throws {
        let router = try await router(11)
        let keys = (0..<1_900).map { ($0 * 7) % 12 }
        let body = #"{"keys":\#(keys),"descending":\#(isDescending)}"#
        let order = isDescending ? keys.reversed() : keys
        for user in [UserContext.admin, ann] {
            let all = order.filter { $0 < 11 && (user.isAdmin || $0 % 3 == 0) }.map { "n\($0)" }
            let target = "/db/_design/v/_view/n"
            #expect(try await ids(router.ask("POST", target, body, as: user)) == all)
            let some = try await ids(router.ask("POST", target + "?skip=3&limit=601", body, as: user))
            #expect(some == Array(all.dropFirst(3).prefix(601)))
            #expect(try await ids(router.ask("POST", target + "?skip=1900", body, as: user)) == [])
        }
    }

    /// A plan takes more time than there are fields, so there is a bound.
    @Test func sortHasSoManyFieldsAtMost() async throws {
        let router = try await router(3)
        for (count, status) in [(100, 200), (101, 400), (50_000, 400)] {
            let fields = (0..<count).map { "\"n\($0)\"" }.joined(separator: ",")
            let answer = try await router.ask(
                "POST", "/db/_find", #"{"selector":{},"sort":[\#(fields)]}"#, as: ann)
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    /// Over several pages that have no row to show.
    @Test func rowsAreFoundBehindManyThatAreHidden() async throws {
        let router = try await router(30)
        let hidden = (0..<1_700).map { #"{"n":\#(Double($0) / 2_000 + 4),"channels":["secret"]}"# }
        _ = try await router.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(hidden.joined(separator: ","))]}")
        let all = try await router.ask("GET", "/db/_design/v/_view/n", as: ann)
        #expect(try ids(all) == (0..<10).map { "n\($0 * 3)" })
        let some = try await router.ask("GET", "/db/_design/v/_view/n?startkey=4&skip=1&limit=2", as: ann)
        #expect(try ids(some) == ["n9", "n12"])
        let none = try await router.ask("GET", "/db/_design/v/_view/n?startkey=4&endkey=5", as: ann)
        #expect(try ids(none) == [])
        #expect(try await ids(router.ask("GET", "/db/_design/v/_view/n")).count == 1_730)
    }

    @Test func aLinkLeadsToNothingThatIsHidden() async throws {
        let router = try await router(4)
        let path = "/db/_design/v/_view/n?include_docs=true&key=3"
        let seen = try await router.ask("GET", path, as: ann)
        let row = try #require((seen["rows"] as? [[String: Any]])?.first)
        #expect(row["id"] as? String == "n3" && row["doc"] is NSNull, "\(seen.text)")
        let whole = try await router.ask("GET", path)
        #expect(whole.text.contains(#""doc":{"_id":"n1""#))
    }

    /// Rows of before a document came into the channel tell what it was then.
    @Test func rowsAreOfTheRevisionThatIsSeen() async throws {
        let router = try await channelRouter()
        _ = try await router.put("/db/_design/v", Self.design)
        let first = try await router.put("/db/doc", #"{"n":1,"channels":["secret"]}"#)
        #expect(try await ids(router.ask("GET", "/db/_design/v/_view/n")) == ["doc"])
        _ = try await router.put("/db/doc", #"{"n":2,"channels":["!"],"_rev":"\#(first)"}"#)
        for query in ["stale=ok", "update=lazy", "update=false"] {
            let answer = try await router.ask("GET", "/db/_design/v/_view/n?\(query)", as: ann)
            #expect(answer.text.contains(#""key":2"#) && !answer.text.contains(#""key":1"#), "\(answer.text)")
        }
    }

    /// The function has not been asked about it yet, whatever it decided on the revision before.
    @Test func whatTheProgramWroteIsHidden() async throws {
        let router = try await router(1)
        #expect(try await ids(router.ask("GET", "/db/_design/v/_view/n", as: ann)) == ["n0"])
        let visibility = try #require(try router.router.databases.database("db")).defaultCollection
        var draft = try #require(try visibility.document("n0")).mutableCopy()
        draft["n"] = 7
        draft["channels"] = ["secret"]
        try await visibility.save(&draft)
        #expect(try await ids(router.ask("GET", "/db/_design/v/_view/n", as: ann)) == [])
        let found = try await router.ask("POST", "/db/_find", #"{"selector":{"n":7}}"#, as: ann)
        #expect((found["docs"] as? [Any])?.count == 0)
    }

    @Test(arguments: [
        ("", [18]), ("?group=true", [6, 12]), ("?group=true&descending=true", [12, 6]),
        ("?group=true&skip=1", [12]), ("?group=true&limit=1", [6]), ("?startkey=1", [12]),
        ("?startkey=2", []),
        ("?group=true&keys=[1,0]", [12, 6]), ("?stale=ok", [18]),
    ])
    func reductionsAreOfSeenDocuments(query: String, expected: [Int]) async throws {
        let router = try await router(10)
        let path = "/db/_design/v/_view/sum\(query)"
        let answer = try await router.ask("GET", path, as: ann)
        let rows = try #require(answer["rows"] as? [[String: Any]], "\(answer.text)")
        #expect(rows.compactMap { $0["value"] as? Int } == expected)
        let nothing = try await router.ask("GET", path, as: UserContext(name: "eve"))
        #expect(nothing.text == answer.text, "all that ann sees is in the channel of everybody")
    }

    /// No group tells that there are documents in it, not even by its key.
    @Test func groupsOfHiddenDocumentsAreNone() async throws {
        let router = try await router(2)
        let answer = try await router.ask("GET", "/db/_design/v/_view/sum?group=true", as: ann)
        #expect(answer.text == "{\"rows\":[\n{\"key\":0,\"value\":0}\n]}\n")
        let rows = try await router.ask("GET", "/db/_design/v/_view/sum?reduce=false", as: ann)
        #expect(try ids(rows) == ["n0"])
    }

    /// More rows than are reduced at once.
    @Test func manySeenRowsAreReduced() async throws {
        let router = try await router(3_600)
        let answer = try await router.ask("GET", "/db/_design/v/_view/sum", as: ann)
        #expect(answer.text == "{\"rows\":[\n{\"key\":null,\"value\":\(1_200 * 1_199 / 2 * 3)}\n]}\n")
    }

    @Test func findHasSeenDocumentsOnly() async throws {
        let router = try await router(30)
        func found(_ request: String, as user: UserContext = ann) async throws -> [Int] {
            let answer = try await router.ask("POST", "/db/_find", request, as: user)
            let documents = try #require(answer["docs"] as? [[String: Any]], "\(answer.text)")
            return documents.compactMap { $0["n"] as? Int }
        }
        let sorted = #""selector":{"n":{"$gte":4}},"sort":[{"n":"asc"}]"#
        #expect(try await found("{\(sorted)}") == [6, 9, 12, 15, 18, 21, 24, 27])
        #expect(try await found("{\(sorted),\"skip\":2,\"limit\":3}") == [12, 15, 18])
        #expect(try await found("{\(sorted),\"limit\":2,\"fields\":[\"n\"]}") == [6, 9])
        #expect(try await found("{\(sorted),\"limit\":2}", as: .admin) == [4, 5])
        try await router.ask("POST", "/db/_index", #"{"index":{"fields":["n"]}}"#)
        #expect(try await found("{\(sorted),\"limit\":2}") == [6, 9])
        #expect(try await found(#"{"selector":{"n":1}}"#) == [])

        let page = try await router.ask("POST", "/db/_find", "{\(sorted),\"limit\":2}", as: ann)
        let bookmark = try #require(page["bookmark"] as? String)
        #expect(try await found("{\(sorted),\"limit\":2,\"bookmark\":\"\(bookmark)\"}") == [12, 15])
        // How many documents were looked at tells how many are hidden.
        let figures = try await router.ask(
            "POST", "/db/_find", "{\(sorted),\"execution_stats\":true}", as: ann)
        #expect(figures.status == 200 && figures["execution_stats"] == nil)
    }

    /// By their IDs, since how well words fit follows from all documents that have them.
    @Test func wordsAreFoundInSeenDocumentsOnly() async throws {
        let router = try await channelRouter()
        for (id, text, channel) in [
            ("s1", "One owl, among many other birds of the night", "!"), ("h1", "Owls", "secret"),
            ("s2", "Owls", "!"), ("s3", "Swifts", "!"), ("s4", "Owl, owl, owl", "!"),
        ] {
            try await router.put("/db/\(id)", #"{"text":"\#(text)","channels":["\#(channel)"]}"#)
        }
        let collection = try #require(try router.router.databases.database("db")).defaultCollection
        try collection.createTextIndex("words", on: "text", language: .english)
        func found(_ more: String = "", as user: UserContext = ann) async throws -> [String] {
            let request = #"{"selector":{"$text":"owl"}\#(more)}"#
            let answer = try await router.ask("POST", "/db/_find", request, as: user)
            let documents = try #require(answer["docs"] as? [[String: Any]], "\(answer.text)")
            return documents.compactMap { $0["_id"] as? String }
        }
        #expect(try await found() == ["s1", "s2", "s4"])
        #expect(try await found(#","skip":1,"limit":1"#) == ["s2"])
        #expect(try await found(#","sort":[{"text":"desc"}]"#) == ["s2", "s4", "s1"])
        let ranked = try await found(as: .admin)
        #expect(ranked.count == 4 && ranked.last == "s1", "\(ranked)")
        let other = try await router.ask("POST", "/db/_find", #"{"selector":{"$text":"AND"}}"#, as: ann)
        #expect(other.status == 400)
    }

    /// How many documents there are in all decides how those that are found are found, and that must not show.
    @Test func theOrderFollowsFromWhatIsSeen() async throws {
        let router = try await channelRouter()
        for id in ["a", "b", "c"] { try await router.put("/db/\(id)", #"{"n":1,"channels":["!"]}"#) }
        let request = #"{"selector":{"n":{"$gt":0}},"sort":[{"n":"desc"}],"fields":["_id"]}"#
        let before = try await router.ask("POST", "/db/_find", request, as: ann)
        #expect(before.text.contains(#"[{"_id":"c"},{"_id":"b"},{"_id":"a"}]"#), "\(before.text)")
        try await router.ask("POST", "/db/_index", #"{"index":{"fields":["n"]}}"#)
        let docs = (0..<500).map { #"{"n":\#($0 % 2),"channels":["secret"]}"# }
        try await router.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(docs.joined(separator: ","))]}")
        let after = try await router.ask("POST", "/db/_find", request, as: ann)
        #expect(after["docs"] as? [[String: String]] == before["docs"] as? [[String: String]])
    }

    /// Nothing is looked at of documents that are not seen: what is kept of their channels here can't be read, and nobody notices but who
    /// asks for them.
    @Test func aListLooksAtSeenDocumentsOnly() async throws {
        let router = try await channelRouter()
        try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        let docs = (0..<200).map { #"{"_id":"d\#($0)","channels":["\#($0 % 2 == 0 ? "a" : "secret")"]}"# }
        try await router.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(docs.joined(separator: ","))]}")
        let seen = stride(from: 0, to: 200, by: 2).map { "d\($0)" }.sorted()
        let collection = try #require(try router.router.databases.database("db")).defaultCollection
        try await collection.database.write { batch in
            for number in stride(from: 1, to: 200, by: 2) {
                try batch.annotate(ChannelKey.document("d\(number)"), with: [0xFF], in: collection)
            }
        }
        #expect(try await router.ask("GET", "/db/d1", as: ann).status == 500)
        #expect(try await ids(router.ask("GET", "/db/_all_docs", as: ann)) == seen)
        #expect(
            try await ids(router.ask("GET", "/db/_all_docs?startkey=%22d1%22&endkey=%22d1z%22", as: ann))
                == seen.filter { $0.hasPrefix("d1") })
        let find = #"{"selector":{"_id":{"$gt":"d"}},"limit":1000,"fields":["_id"]}"#
        let found = try await router.ask("POST", "/db/_find", find, as: ann)["docs"] as? [[String: String]]
        #expect(found?.compactMap { $0["_id"] } == seen)
    }

    /// Documents that an earlier build has routed are listed before the first request is answered that asks for a list.
    @Test(arguments: [0, 3, 250]) func listsThatAnEarlierBuildDidNotKeepAreMade(count: Int) async throws {
        let router = try await channelRouter()
        try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        let docs = (0..<count).map { #"{"_id":"d\#($0)","channels":["a"]}"# }
        try await router.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(docs.joined(separator: ","))]}")
        let collection = try #require(try router.router.databases.database("db")).defaultCollection
        func lists() throws -> [[UInt8]] {
            try collection.snapshot().annotationKeys(under: ChannelKey.list("a"))
        }
        let kept = try lists()
        #expect(kept.count == count)
        try await collection.database.write { batch in
            try batch.annotate(ChannelKey.hasLists, with: nil, in: collection)
            for key in kept { try batch.annotate(ChannelKey.list("a") + key, with: nil, in: collection) }
        }
        // Written meanwhile, as this build does.
        try await router.put("/db/new", #"{"channels":["a"]}"#)
        let seen = try await ids(router.ask("GET", "/db/_all_docs", as: ann))
        #expect(seen == ((0..<count).map { "d\($0)" } + ["new"]).sorted())
        #expect(try lists().count == count + 1)
        #expect(try collection.snapshot().annotation(ChannelKey.hasLists) != nil)
    }

    /// In several channels, more than are read ahead of one.
    @Test(arguments: [(200, 20), (700, 2)], [false, true])
    func aListHasSeenDocumentsOnly(_ sizes: (all: Int, step: Int), _ isDescending: Bool) async throws {
        let router = try await channelRouter()
        try await router.put("/db/grant", #"{"access":{"ann":["a","b"]}}"#)
        func name(_ number: Int) -> String { "d\(number + 1000)" }
        let docs = (0..<sizes.all).map { number in
            let channels = number % sizes.step != 0 ? "\"secret\"" : number % 3 == 0 ? "\"a\",\"b\"" : "\"b\""
            return #"{"_id":"\#(name(number))","channels":[\#(channels)]}"#
        }
        try await router.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(docs.joined(separator: ","))]}")
        var seen = stride(from: 0, to: sizes.all, by: sizes.step).map(name)
        // One leaves, and one is deleted.
        for (id, body) in [
            (seen[2], #"{"channels":["secret"]"#), (seen[4], #"{"_deleted":true,"channels":["a"]"#),
        ] {
            let revision = try #require(try await router.ask("GET", "/db/\(id)")["_rev"] as? String)
            try await router.put("/db/\(id)", body + #","_rev":"\#(revision)"}"#)
        }
        seen.remove(at: 4)
        seen.remove(at: 2)
        func list(_ query: String) async throws -> [String] {
            try await ids(
                router.ask("GET", "/db/_all_docs?descending=\(isDescending)\(query)", as: ann))
        }
        func ordered(_ ids: [String]) -> [String] { isDescending ? ids.reversed() : ids }
        #expect(try await list("") == ordered(seen))
        #expect(try await list("&skip=1&limit=3") == Array(ordered(seen)[1...3]))
        #expect(try await list("&limit=0") == [])
        let (low, high) = (seen[1], seen[5])
        let ends = isDescending ? (high, low) : (low, high)
        let range = "&startkey=%22\(ends.0)%22&endkey=%22\(ends.1)%22"
        #expect(try await list(range) == ordered(Array(seen[1...5])))
        #expect(try await list(range + "&inclusive_end=false") == ordered(Array(seen[1...5])).dropLast())
        let whole = try await router.ask(
            "GET", "/db/_all_docs?include_docs=true&key=%22\(low)%22", as: ann)
        #expect(whole.text.contains(#""doc":{"_id":"\#(low)""#))
    }
}
