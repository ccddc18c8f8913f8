import Roost
import RoostWire
import Testing

@testable import RoostREST

/// What requests cost grows with what they read and send, and not with the square of that: counted, not timed.
@Suite struct RequestCostTests {
    private static let sizes = [60, 120, 240]

    /// A document `doc` with conflicting revisions, which ann sees, each with an attachment of one name.
    private func conflicted(_ count: Int, attachments: Bool = false) async throws -> TestRouter {
        let router = try await channelRouter()
        let content = attachments ? #","_attachments":{"a":{"data":"YQ=="}}"# : ""
        let docs = (0..<count).map {
            #"{"_id":"doc","_rev":"\#(Self.revision($0))","channels":["!"]\#(content)}"#
        }
        let body = #"{"new_edits":false,"docs":[\#(docs.joined(separator: ","))]}"#
        #expect(try await router.ask("POST", "/db/_bulk_docs", body, as: ann).text == "[]\n")
        return router
    }

    private static func revision(_ number: Int) -> String {
        "1-" + String(repeating: "0", count: 32 - "\(number)".count) + "\(number)"
    }

    #if ROOST_FAILPOINTS
        /// Expects that twice as much takes at most about twice as many steps of each kind.
        private func expectProportion(
            _ what: String, _ work: (Int) async throws -> ReadCounts.Counter
        ) async throws {
            var counts: [ReadCounts.Counter] = []
            for size in Self.sizes { counts.append(try await work(size)) }
            for kind in ReadCounts.Kind.allCases {
                for (size, (less, more)) in zip(Self.sizes, zip(counts, counts.dropFirst())) {
                    // A part of it does not depend on the size.
                    #expect(more[kind] <= less[kind] * 2 + size, "\(what), \(kind) of \(2 * size)")
                }
            }
        }

        @Test(arguments: [
            "GET _changes?style=all_docs", "GET _changes?style=all_docs&include_docs=true",
            "POST _changes?style=all_docs&filter=_selector", "GET doc?open_revs=all&revs=true",
            "POST _bulk_get?revs=true&latest=true", "POST _bulk_get", "POST _revs_diff",
            "GET _all_docs?include_docs=true", "GET doc?revs=true",
        ])
        func readingConflictsCostsWhatThereIs(route: String) async throws {
            let parts = route.split(separator: " ").map(String.init)
            for user in [UserContext.admin, ann] {
                try await expectProportion("\(route) as \(user.name ?? "an administrator")") { size in
                    let router = try await conflicted(size)
                    let revisions = (0..<size).map { "\"\(Self.revision($0))\"" }
                    let docs = (0..<size).map { #"{"id":"doc","rev":"\#(Self.revision($0))"}"# }
                    let body =
                        switch parts[1].prefix(5) {
                        case "_bulk": #"{"docs":[\#(docs.joined(separator: ","))]}"#
                        case "_revs": #"{"doc":[\#(revisions.joined(separator: ","))]}"#
                        default: #"{"selector":{"channels":{"$exists":true}}}"#
                        }
                    return try await ReadCounts.count {
                        let answer = try await router.ask(
                            parts[0], "/db/\(parts[1])", parts[0] == "POST" ? body : nil, as: user)
                        #expect(answer.status == 200, "\(answer.text)")
                        let told = answer.text.components(separatedBy: "\"_rev\"").count - 1
                        if parts[1].hasPrefix("_bulk") { #expect(told == size, "\(route)") }
                    }
                }
            }
        }

        @Test func writingConflictsCostsWhatIsWritten() async throws {
            try await expectProportion("_bulk_docs") { size in
                try await ReadCounts.count { _ = try await conflicted(size) }
            }
            // Behind others that are there already.
            try await expectProportion("_bulk_docs, more") { size in
                let router = try await conflicted(size)
                let docs = (0..<size).map {
                    #"{"_id":"doc","_rev":"2-\#($0)a","channels":["!"]}"#
                }
                return try await ReadCounts.count {
                    let body = #"{"new_edits":false,"docs":[\#(docs.joined(separator: ","))]}"#
                    let answer = try await router.ask("POST", "/db/_bulk_docs", body, as: ann)
                    #expect(answer.text == "[]\n")
                }
            }
        }

        /// A document with attachments, by names that count up.
        private func attached(_ count: Int, _ value: String) -> String {
            let members = (0..<count).map { "\"a\($0)\":\(value)" }
            return #"{"channels":["!"],"_attachments":{\#(members.joined(separator: ","))}}"#
        }

        @Test func attachmentsCostWhatThereIs() async throws {
            for user in [UserContext.admin, ann] {
                try await expectProportion("saving") { size in
                    let router = try await channelRouter()
                    return try await ReadCounts.count {
                        let answer = try await router.ask(
                            "PUT", "/db/doc", attached(size, #"{"data":"YQ=="}"#), as: user)
                        #expect(answer.status == 201, "\(answer.text)")
                    }
                }
                for stub in [
                    #"{"stub":true}"#,
                    #"{"stub":true,"digest":"sha1-hvfkN/qlp/zhXR3cuerq6jd2Z7g=","revpos":1}"#,
                ] {
                    try await expectProportion("stubs") { size in
                        let router = try await channelRouter()
                        let revision = try await router.put("/db/doc", attached(size, #"{"data":"YQ=="}"#))
                        return try await ReadCounts.count {
                            let answer = try await router.ask(
                                "PUT", "/db/doc?rev=\(revision)", attached(size, stub), as: user)
                            #expect(answer.status == 201, "\(answer.text)")
                        }
                    }
                }
                for target in [
                    "doc", "doc?attachments=true", "_all_docs?include_docs=true",
                    "_changes?include_docs=true", "doc/a1",
                ] {
                    try await expectProportion(target) { size in
                        let router = try await channelRouter()
                        try await router.put("/db/doc", attached(size, #"{"data":"YQ=="}"#))
                        return try await ReadCounts.count {
                            for accept in ["application/json", "multipart/related"] {
                                let answer = try await router.ask(
                                    "GET", "/db/\(target)", headers: ["Accept": accept], as: user)
                                #expect(answer.status == 200, "\(answer.text)")
                            }
                        }
                    }
                }
            }
        }

        /// Stubs that mean attachments of other leaves, of which there are as many: each leaf is looked into once.
        @Test func stubsOfOtherLeavesAreLookedUpByTheirNames() async throws {
            try await expectProportion("stubs") { size in
                let router = try await conflicted(size, attachments: true)
                let missing = #"{"stub":true,"digest":"md5-AAAAAAAAAAAAAAAAAAAAAA==","revpos":7}"#
                let document =
                    #"{"_rev":"1-ff","_attachments":{"#
                    + (0..<size).map { "\"a\($0)\":\(missing)" }.joined(separator: ",") + "}}"
                return try await ReadCounts.count {
                    let answer = try await router.ask("PUT", "/db/doc?new_edits=false", document)
                    #expect(answer.status == 412, "\(answer.text)")
                }
            }
        }

        /// Documents that let one user into a channel each, as rooms do: the user's record is not read again for each.
        @Test func grantsCostWhatIsGranted() async throws {
            func rooms(_ first: Int, _ count: Int) -> String {
                let docs = (first..<first + count).map {
                    #"{"_id":"room\#($0)","channels":["room\#($0)"],"access":{"ann":["room\#($0)"]}}"#
                }
                return #"{"docs":[\#(docs.joined(separator: ","))]}"#
            }
            try await expectProportion("rooms") { size in
                let router = try await channelRouter()
                try await router.ask("POST", "/db/_bulk_docs", rooms(0, size), as: ann)
                return try await ReadCounts.count {
                    let answer = try await router.ask("POST", "/db/_bulk_docs", rooms(size, size), as: ann)
                    #expect(!answer.text.contains("error"), "\(answer.text)")
                }
            }
        }

        /// Deleting and feeds that wait look at no body.
        @Test func bodiesAreReadWhereTheyAreAnswered() async throws {
            let router = try await conflicted(3)
            for (method, target, status) in [
                ("DELETE", "doc", 409), ("GET", "_changes", 200), ("GET", "_changes?style=all_docs", 200),
                ("GET", "_all_docs", 200),
            ] {
                for user in [UserContext.admin, ann] where target != "_all_docs" || user.isAdmin {
                    let counts = try await ReadCounts.count {
                        let answer = try await router.ask(method, "/db/\(target)", as: user)
                        #expect(answer.status == status)
                    }
                    #expect(counts[.bodies] == 0, "\(method) \(target)")
                }
            }
        }
    #endif

    /// The bodies of all leaves are not in memory together.
    @Test func leavesAreSentOneAfterAnother() async throws {
        let router = try TestRouter { options, _ in options.requestMemory = 4 << 20 }
        try await router.ask("PUT", "/db")
        let text = String(repeating: "x", count: 200_000)
        for number in 0..<40 {
            let body = #"{"_rev":"\#(Self.revision(number))","text":"\#(text)"}"#
            #expect(try await router.ask("PUT", "/db/doc?new_edits=false", body).status == 201)
        }
        for (method, target, body) in [
            ("GET", "doc?open_revs=all", nil), ("POST", "_bulk_get", #"{"docs":[{"id":"doc"}]}"#),
        ] as [(String, String, String?)] {
            for accept in ["application/json", "multipart/mixed"]
            where method == "GET" || accept.hasPrefix("multi") {
                let answer = try await router.ask(method, "/db/\(target)", body, headers: ["Accept": accept])
                #expect(answer.status == 200 && answer.text.utf8.count > 40 * 200_000, "\(target) \(accept)")
            }
        }
        let feed = try await router.ask(
            "POST", "/db/_changes?style=all_docs&filter=_selector", #"{"selector":{"text":{"$exists":true}}}"#
        )
        #expect(feed.text.components(separatedBy: "\"rev\"").count - 1 == 40)
        #expect(router.router.memory.held == 0)
    }

    /// A body of very many documents of which none may be saved is answered as it is sent.
    @Test func refusalsAreSentAsTheyAreMade() async throws {
        let router = try TestRouter()
        try await router.ask("PUT", "/db")
        let body =
            #"{"all_or_nothing":true,"docs":["# + Array(repeating: "{}", count: 5_000).joined(separator: ",")
            + "]}"
        let response = await router.router.respond(to: .json("POST", "/db/_bulk_docs", body), as: .admin)
        guard case .stream(let stream, _) = response.body else { return #expect(Bool(false), "\(response)") }
        var (pieces, rows) = (0, 0)
        while let piece = try await stream.next() {
            #expect(piece.count < 64 << 10)
            pieces += 1
            rows += String(decoding: piece, as: UTF8.self).components(separatedBy: "\"id\"").count - 1
        }
        #expect(response.status == 417 && rows == 5_000 && pieces > 10)
    }

    /// Of many channels a few entries each are read ahead, and no document is passed over or told twice.
    @Test func feedsOfManyChannelsTellEverything() async throws {
        let router = try await channelRouter()
        let channels = (0..<3_000).map { "\"c\($0)\"" }.joined(separator: ",")
        try await router.ask("PUT", "/db/_user/ann", "{\"admin_channels\":[\(channels)]}")
        let docs = (0..<600).map { number in
            // Some channels have many documents, most have one or none, and some documents are in several.
            #"{"_id":"d\#(number)","channels":["c\#(number % 3 == 0 ? 7 : number)","c\#(number % 5)"]}"#
        }
        try await router.ask("POST", "/db/_bulk_docs", #"{"docs":[\#(docs.joined(separator: ","))]}"#)
        func ids(_ answer: TestRouter.Answer) throws -> [String] {
            try #require(answer["results"] as? [[String: Any]], "\(answer.text)").compactMap {
                $0["id"] as? String
            }
        }
        let all = (0..<600).map { "d\($0)" }
        #expect(try await ids(router.ask("GET", "/db/_changes", as: ann)) == all)
        #expect(try await ids(router.ask("GET", "/db/_changes?include_docs=true", as: ann)) == all)
        // The same for channels that come later, behind what was told.
        try await router.ask("PUT", "/db/_user/bob", #"{"admin_channels":["c1"]}"#)
        let first = try await router.ask("GET", "/db/_changes", as: bob)
        let seen = try ids(first)
        #expect(seen == all.filter { Int($0.dropFirst())! % 5 == 1 })
        let place = try #require(first["last_seq"] as? String)
        try await router.ask("PUT", "/db/_user/bob", "{\"admin_channels\":[\(channels)]}")
        let later = try await ids(router.ask("GET", "/db/_changes?since=\(place)", as: bob))
        #expect(Set(later).union(seen) == Set(all) && Set(later).count == later.count)
    }

    /// Long documents in a feed are sent as they are read.
    @Test func longDocumentsOfAFeedComeInPieces() async throws {
        let router = try await channelRouter { options, _ in options.requestMemory = 4 << 20 }
        let text = String(repeating: "x", count: 300_000)
        for number in 0..<20 {
            try await router.put("/db/d\(number)", #"{"channels":["!"],"text":"\#(text)"}"#)
        }
        for user in [UserContext.admin, ann] {
            let answer = try await router.ask("GET", "/db/_changes?include_docs=true", as: user)
            let rows = try #require(answer["results"] as? [[String: Any]], "\(answer.text.suffix(200))")
            #expect(rows.compactMap { $0["id"] as? String } == (0..<20).map { "d\($0)" })
        }
    }
}
