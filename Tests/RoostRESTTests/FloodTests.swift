import Roost
import RoostWire
import Testing

@testable import RoostREST

/// Names and numbers by which one client could take more than its part.
@Suite struct FloodTests {
    /// A network of version 6 is one client: it has more addresses than there are requests.
    @Test func aNetworkIsOneClient() {
        func owner(_ peer: String, _ user: UserContext = .anonymous) -> RequestBudget.Owner {
            RequestBudget.Owner(user, peer: peer)
        }
        #expect(owner("2001:db8:1:2::1") == owner("2001:db8:1:2:3:4:5:6"))
        #expect(owner("2001:db8:1:2::1") != owner("2001:db8:1:3::1"))
        #expect(owner("192.0.2.1") != owner("192.0.2.2"))
        #expect(owner("192.0.2.1", ann) == owner("2001:db8::1", ann))
        #expect(owner("192.0.2.1", ann) != owner("192.0.2.1"))
        #expect(ann.owner(from: "2001:db8::1") == ann.owner(from: "192.0.2.1"))
    }

    /// One user's feeds leave room for those of others.
    @Test func feedsOfOneUserHaveABound() async throws {
        let router = try TestRouter { options, _ in options.openFeeds = 2 }
        try await router.ask("PUT", "/db")
        try await router.ask("PUT", "/db/_security", "{}")
        let feed = HTTPRequest.get("/db/_changes?feed=continuous")
        var held: [HTTPResponse] = []
        for status in [200, 200, 503] {
            let response = await router.router.respond(to: feed, as: ann)
            #expect(response.status == status)
            if status == 503 { #expect(response.headers["Retry-After"] != nil) }
            held.append(response)
        }
        let longPoll = HTTPRequest.get("/db/_changes?feed=longpoll&since=now")
        #expect(await router.router.respond(to: longPoll, as: ann).status == 503)
        #expect(await router.router.respond(to: feed, as: bob).status == 200)
        #expect(try await router.ask("GET", "/db/_changes", as: ann).status == 200)
        for _ in 0..<3 { #expect(await router.router.respond(to: feed, as: .admin).status == 200) }
        held.removeFirst()
        #expect(await router.router.respond(to: feed, as: ann).status == 200)
    }

    /// Indexes of a design document are told apart by the bytes of their names.
    @Test func indexesWithEquivalentNamesStayApart() async throws {
        let router = try TestRouter()
        try await router.ask("PUT", "/db")
        for name in ["caf\u{e9}", "cafe\u{301}"] {
            let body = #"{"index":{"fields":["a"]},"ddoc":"d","name":"\#(name)"}"#
            #expect(try await router.ask("POST", "/db/_index", body)["result"] as? String == "created")
        }
        func names() async throws -> [[UInt8]] {
            let list = try await router.ask("GET", "/db/_index")["indexes"] as? [[String: Any]] ?? []
            return list.compactMap { ($0["name"] as? String).map { Array($0.utf8) } }.dropFirst().sorted {
                $0.count < $1.count
            }
        }
        #expect(try await names() == [Array("caf\u{e9}".utf8), Array("cafe\u{301}".utf8)])
        let name = PercentEncoding.encode("caf\u{e9}")
        #expect(try await router.ask("DELETE", "/db/_index/_design/d/json/\(name)").status == 200)
        #expect(try await names() == [Array("cafe\u{301}".utf8)])
    }

    /// A plan takes more time than there are fields, so there is a bound, whichever way they come.
    @Test func fieldsOfIndexesHaveABound() async throws {
        let router = try TestRouter()
        try await router.ask("PUT", "/db")
        try await router.put("/db/doc", #"{"n1":1}"#)
        for (count, status) in [(100, 200), (101, 400), (20_000, 400)] {
            let fields = (0..<count).map { "\"n\($0)\"" }.joined(separator: ",")
            let answer = try await router.ask("POST", "/db/_index", #"{"index":{"fields":[\#(fields)]}}"#)
            #expect(answer.status == status, "\(answer.text)")
        }
        let members = (0..<20_000).map { #""m\#($0)":"asc""# }.joined(separator: ",")
        try await router.put(
            "/db/_design/large",
            #"{"language":"query","views":{"x":{"map":{"fields":{\#(members)}},"reduce":"_count"}}}"#)
        #expect(
            try await router.ask("POST", "/db/_find", #"{"selector":{"n1":1},"sort":["n1"]}"#).status == 200)
        let some = (0..<50_000).map { "\"a.b\($0)\"" }.joined(separator: ",")
        let found = try await router.ask(
            "POST", "/db/_find", #"{"selector":{"n1":1},"fields":[\#(some),"n1"],"use_index":["x","y","z"]}"#)
        #expect(found.status == 400 && found["error"] as? String == "invalid_index_name")
        let part = try await router.ask(
            "POST", "/db/_find", #"{"selector":{"n1":1},"fields":[\#(some),"n1"]}"#)
        #expect((part["docs"] as? [[String: Any]])?.map(\.count) == [1], "\(part.text)")
    }

    /// What is asked for of a document is a tree of fields.
    @Test(arguments: [
        (#"["a.b","a.c"]"#, #"{"a":{"b":1,"c":{"d":2}}}"#), (#"["a.c.d"]"#, #"{"a":{"c":{"d":2}}}"#),
        (#"["a","a.b"]"#, #"{"a":{"b":1,"c":{"d":2},"e":[3]}}"#),
        (#"["a.b","a"]"#, #"{"a":{"b":1,"c":{"d":2},"e":[3]}}"#),
        (#"["a.b.x","none","x.y"]"#, "{}"), (#"["x"]"#, #"{"x":null}"#),
    ])
    func fieldsAreATree(fields: String, expected: String) async throws {
        let router = try TestRouter()
        try await router.ask("PUT", "/db")
        try await router.put("/db/doc", #"{"a":{"b":1,"c":{"d":2},"e":[3]},"x":null}"#)
        let answer = try await router.ask("POST", "/db/_find", #"{"selector":{},"fields":\#(fields)}"#)
        #expect(answer.text.hasPrefix("{\"docs\":[\(expected)],"), "\(answer.text)")
    }

    /// Revisions are told apart by their bytes: the channels of one leaf are not those of another whose name Unicode calls equivalent.
    @Test func leavesWithEquivalentNamesStayApart() async throws {
        let router = try await channelRouter()
        let (seen, hidden) = ("1-caf\u{e9}", "1-cafe\u{301}")
        for order in [[seen, hidden], [hidden, seen]] {
            let id = order[0] == seen ? "a" : "b"
            for revision in order {
                let body =
                    #"{"_rev":"\#(revision)","channels":["\#(revision.utf8.elementsEqual(seen.utf8) ? "!" : "board")"]}"#
                #expect(try await router.ask("PUT", "/db/\(id)?new_edits=false", body).status == 201)
            }
            let path = "/db/\(id)?rev="
            #expect(try await router.ask("GET", path + PercentEncoding.encode(seen), as: ann).status == 200)
            #expect(try await router.ask("GET", path + PercentEncoding.encode(hidden), as: ann).status == 404)
            let all = try await router.ask(
                "GET", "/db/\(id)?open_revs=all", headers: ["Accept": "application/json"], as: ann)
            #expect((all.json as? [Any])?.count == 1, "\(all.text)")
        }
    }

    /// Local documents are listed some at a time, in any range.
    @Test func localDocumentsAreListedInPages() async throws {
        let router = try TestRouter()
        try await router.ask("PUT", "/db")
        let names = (0..<1_203).map { "n\(10_000 + $0)" }
        let docs = names.map { #"{"_id":"_local/\#($0)"}"# }
        try await router.ask("POST", "/db/_bulk_docs", #"{"docs":[\#(docs.joined(separator: ","))]}"#)
        func ids(_ query: String, _ body: String? = nil) async throws -> [String] {
            let answer = try await router.ask(body == nil ? "GET" : "POST", "/db/_local_docs\(query)", body)
            let rows = try #require(answer["rows"] as? [[String: Any]], "\(answer.text)")
            return rows.compactMap { $0["id"] as? String }.map { String($0.dropFirst("_local/".count)) }
        }
        #expect(try await ids("") == names)
        #expect(try await ids("?descending=true") == names.reversed())
        #expect(try await ids("?skip=499&limit=3") == Array(names[499..<502]))
        #expect(
            try await ids("?startkey=\"_local/n10499\"&endkey=\"_local/n10502\"") == Array(names[499...502]))
        #expect(try await ids("?endkey=\"_local/n10001\"&inclusive_end=false") == [names[0]])
        #expect(
            try await ids("?descending=true&startkey=\"_local/n10501\"&limit=2") == [names[501], names[500]])
        #expect(try await ids("?startkey=\"a\"") == [])
        #expect(try await ids("?endkey=\"A\"") == [])
        #expect(try await ids("?startkey=\"A\"&endkey=\"a\"").count == names.count)
        #expect(
            try await ids("", #"{"keys":["_local/n10003","_local/none","_local/n10001"]}"#) == [
                "n10003", "n10001",
            ])
    }
}
