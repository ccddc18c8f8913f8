import Foundation
import Roost
import RoostWire
import Synchronization
import Testing

@testable import RoostREST

/// The changes that users see of their channels: what comes and goes with grants, and that nothing tells of the rest.
@Suite struct ChannelFeedTests {
    @Test func aGrantBringsWhatWasThereBefore() async throws {
        let router = try await channelRouter()
        for id in ["a1", "a2", "a3"] { try await router.put("/db/\(id)", #"{"channels":["a"]}"#) }
        try await router.put("/db/open", #"{"channels":["!"]}"#)
        let before = try await feed(router, ann)
        #expect(before.rows.map(\.id) == ["open"])
        let grant = try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        try await router.put("/db/a4", #"{"channels":["a"]}"#)
        // Two at a time, each page from the place where the one before ended.
        var (place, told) = (before.last, [String]())
        for _ in 0..<3 {
            let page = try await feed(router, ann, since: place, "&limit=2")
            told += page.rows.map(\.id)
            place = page.last
        }
        #expect(told == ["a1", "a2", "a3", "a4"])
        #expect(try await feed(router, bob).rows.map(\.id) == ["open"])
        // The grant withdrawn: what was had is told as gone, without what became of it since.
        try await router.ask("DELETE", "/db/grant?rev=\(grant)")
        try await router.put("/db/a5", #"{"channels":["a"]}"#)
        let after = try await feed(router, ann, since: place)
        #expect(after.rows.map(\.id) == ["a1", "a2", "a3", "a4"])
        #expect(after.rows.allSatisfy { $0.isRevoked && $0.revisions.isEmpty })
        #expect(try await feed(router, ann, since: after.last).rows.isEmpty)
    }

    /// A device that was told of a part of what a withdrawn grant took gets it back with the next grant.
    @Test func aGrantThatComesBackBringsWhatWasToldAsRevoked() async throws {
        let router = try await channelRouter()
        for id in ["a1", "a2", "a3"] { try await router.put("/db/\(id)", #"{"channels":["a"]}"#) }
        let first = try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        let start = try await feed(router, ann)
        #expect(start.rows.map(\.id) == ["a1", "a2", "a3"])
        try await router.ask("DELETE", "/db/grant?rev=\(first)")
        let revoked = try await feed(router, ann, since: start.last, "&limit=1")
        #expect(revoked.rows.map(\.id) == ["a1"] && revoked.rows[0].isRevoked)
        try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        let told = try await feed(router, ann, since: revoked.last)
        #expect(told.rows.first { $0.id == "a1" }?.isRevoked == false)
        #expect(try await feed(router, ann, since: told.last).rows.isEmpty)
    }

    @Test func aDocumentThatLeavesIsToldAsRemoved() async throws {
        let router = try await channelRouter()
        try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        let first = try await router.put("/db/doc", #"{"channels":["a"],"n":1}"#)
        let start = try await feed(router, ann)
        #expect(start.rows.map(\.revisions) == [[first]])
        let second = try await router.put("/db/doc", #"{"_rev":"\#(first)","channels":["b"],"word":"xyzzy"}"#)
        let left = try await feed(router, ann, since: start.last, "&include_docs=true")
        #expect(left.rows.map(\.revisions) == [[second]] && left.rows[0].isDeleted)
        #expect(!left.text.contains("xyzzy"))
        // Replicators get a tombstone at that revision.
        for target in ["/db/_bulk_get?revs=true", "/db/_bulk_get?latest=true"] {
            let answer = try await router.ask(
                "POST", target, #"{"docs":[{"id":"doc","rev":"\#(second)"}]}"#, as: ann)
            #expect(answer.text.contains(#""_deleted":true"#) && !answer.text.contains("xyzzy"))
        }
        #expect(try await router.ask("GET", "/db/doc?rev=\(second)", as: ann).status == 404)
        // Nobody else does, and what comes later is not told.
        let other = try await router.ask(
            "POST", "/db/_bulk_get", #"{"docs":[{"id":"doc","rev":"\#(second)"}]}"#, as: bob)
        #expect(!other.text.contains("_deleted"))
        let third = try await router.put("/db/doc", #"{"_rev":"\#(second)","channels":["b"]}"#)
        #expect(try await feed(router, ann, since: left.last).rows.isEmpty)
        try await router.put("/db/doc", #"{"_rev":"\#(third)","channels":["a"]}"#)
        #expect(try await feed(router, ann, since: left.last).rows.map(\.isDeleted) == [false])
    }

    @Test func placesTellNothingOfWhatIsNotSeen() async throws {
        let router = try await channelRouter()
        try await router.put("/db/open", #"{"channels":["!"]}"#)
        let before = try await router.ask("GET", "/db/_changes", as: ann)
        for number in 0..<20 { try await router.put("/db/hidden\(number)", #"{"channels":["secret"]}"#) }
        let after = try await router.ask("GET", "/db/_changes", as: ann)
        #expect(before.text == after.text && before.headers["ETag"] == nil)
        #expect(!before.text.contains("pending"))
        let first = try #require(before["last_seq"] as? String)
        let lists = try await router.ask("GET", "/db/_all_docs", as: ann)
        #expect(lists["total_rows"] is NSNull && lists["offset"] is NSNull)
        // Places are their owner's, and what is made up begins at the beginning.
        try await router.put("/db/open2", #"{"channels":["!"]}"#)
        #expect(try await feed(router, ann, since: first).rows.map(\.id) == ["open2"])
        #expect(try await feed(router, bob, since: first).rows.map(\.id) == ["open", "open2"])
        for text in ["7", "22-abc", "0", String(repeating: "0", count: 96), "zz"] {
            #expect(try await feed(router, ann, since: text).rows.map(\.id) == ["open", "open2"])
        }
        let now = try await feed(router, ann, since: "now")
        #expect(now.rows.isEmpty)
        #expect(try await feed(router, ann, since: now.last).rows.isEmpty)
    }

    @Test(arguments: ["continuous", "longpoll", "eventsource"])
    func feedsThatWaitTellWhatIsSeen(_ kind: String) async throws {
        let router = try await channelRouter()
        let start = try await feed(router, ann, since: "now").last
        let target = "/db/_changes?feed=\(kind)&limit=1&timeout=60000&since=\(start)"
        async let answer = router.ask("GET", target, as: ann)
        try await router.put("/db/hidden", #"{"channels":["secret"]}"#)
        try await router.put("/db/open", #"{"channels":["!"]}"#)
        let text = try await answer.text
        #expect(text.contains(#""id":"open""#) && !text.contains("hidden"))
    }

    /// It is woken by the channels that the user has gained meanwhile.
    @Test(.timeLimit(.minutes(1))) func aFeedThatWaitsFollowsItsUsersChannels() async throws {
        let router = try await channelRouter()
        try await router.put("/db/a1", #"{"channels":["a"]}"#)
        let response = await router.router.respond(
            to: .get("/db/_changes?feed=continuous&heartbeat=3600000"), as: ann)
        guard case .stream(let stream, nil) = response.body,
            let feed = (((stream as? FeedBody)?.body as? HeldBody)?.body as? PlacedBody)?.body as? ChangesBody
        else {
            throw WireError(500, "no feed")
        }
        /// What the feed tells of something that happens while it waits.
        func told(_ happening: () async throws -> Void) async throws -> String {
            async let next = feed.next()
            try await eventually { await feed.alarm.isWaiting }
            try await happening()
            return String(decoding: try await next ?? [], as: UTF8.self)
        }
        #expect(try await feed.next() == [10])
        var grant = ""
        #expect(
            try await told { grant = try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#) }
                .contains(#""id":"a1""#))
        for id in ["a2", "a3"] {
            #expect(
                try await told { try await router.put("/db/\(id)", #"{"channels":["a"]}"#) }
                    .contains("\"id\":\"\(id)\""))
        }
        #expect(
            try await told { try await router.ask("DELETE", "/db/grant?rev=\(grant)") }.contains("revoked"))
    }

    /// Filters are asked about what the user sees, and about nothing else.
    @Test func filtersChooseAmongWhatIsSeen() async throws {
        let asked = Mutex<Set<String>>([])
        let router = try await channelRouter { _, hooks in
            hooks.filters["app/kept"] = { document, _, user in
                asked.withLock { _ = $0.insert(document.id) }
                return document.properties["keep"].bool == true && user.name == "ann"
            }
        }
        let view = #""kept":{"map":{"where":["=",[".keep"],true],"emit":[{"key":[".keep"]}]}}"#
        try await router.put("/db/_design/v", #"{"language":"roost","views":{\#(view)}}"#)
        let leaving = try await router.put("/db/leaving", #"{"channels":["!"],"keep":true}"#)
        try await router.put("/db/hidden", #"{"channels":["secret"],"keep":true}"#)
        let leaves =
            #"{"_id":"kept","_rev":"1-cc","channels":["!"],"keep":true},"#
            + #"{"_id":"kept","_rev":"1-bb","channels":["secret"],"keep":true},"#
            + #"{"_id":"kept","_rev":"1-aa","channels":["!"],"keep":true},"#
            + #"{"_id":"kept","_rev":"1-a","channels":["!"]},{"_id":"other","_rev":"1-a","channels":["!"]}"#
        try await router.ask("POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[\#(leaves)]}"#)
        for (query, body) in [
            ("filter=_selector", #"{"selector":{"keep":true}}"#), ("filter=_view&view=v/kept", "{}"),
            ("filter=app/kept", "{}"),
        ] {
            func told(_ more: String) async throws -> TestRouter.Answer {
                try await router.ask("POST", "/db/_changes?\(query)\(more)", body, as: ann)
            }
            let main = try await told("")
            #expect(main.text.contains(#""id":"leaving""#) && !main.text.contains("hidden"), "\(main.text)")
            #expect(main.text.contains(#""changes":[{"rev":"1-cc"}]"#), "\(main.text)")
            #expect(!main.text.contains("other"))
            let all = try await told("&style=all_docs")
            #expect(all.text.contains(#""changes":[{"rev":"1-cc"},{"rev":"1-aa"}]"#), "\(all.text)")
            // What was left out is not looked at again.
            let last = try #require(main["last_seq"] as? String)
            #expect(try await feed(router, ann, since: last).rows.isEmpty)
            #expect(try await told("&limit=1").text.components(separatedBy: "\"id\"").count == 2)
        }
        #expect(asked.withLock(\.self) == ["leaving", "kept", "other"])
        let start = try await feed(router, ann).last
        // Whether it was told before or not, who had it learns that it left.
        try await router.put("/db/leaving", #"{"_rev":"\#(leaving)","channels":["secret"]}"#)
        let left = try await feed(router, ann, since: start, "&filter=app/kept")
        #expect(left.rows.map(\.id) == ["leaving"] && left.rows[0].isDeleted)
        let design = try await feed(router, ann, "&filter=_design")
        #expect(design.rows.isEmpty)
        #expect(try await router.ask("GET", "/db/_changes?filter=app/none", as: ann).status == 404)
    }

    @Test func theRolesOfAnAccountBringAndTakeWhatTheyHave() async throws {
        let router = try await channelRouter { options, _ in options.allowsGuests = true }
        try await router.put("/db/grant", #"{"access":{"role:staff":["a"],"eve":["*"]}}"#)
        try await router.put("/db/doc", #"{"channels":["a"]}"#)
        let start = try await feed(router, ann)
        #expect(start.rows.isEmpty)
        let staff = UserContext(name: "ann", roles: ["staff"])
        let gained = try await feed(router, staff, since: start.last)
        #expect(gained.rows.map(\.id) == ["doc"])
        let lost = try await feed(router, ann, since: gained.last)
        #expect(lost.rows.map(\.id) == ["doc"] && lost.rows[0].isRevoked)
        // Somebody without a name has the public channel, and one with `*` everything.
        #expect(try await feed(router, .anonymous).rows.isEmpty)
        #expect(try await feed(router, UserContext(name: "eve")).rows.map(\.id) == ["grant", "doc"])
    }

    @Test func whatLeftBeforeAGrantIsNotTold() async throws {
        let router = try await channelRouter()
        let start = try await feed(router, ann)
        let early = try await router.put("/db/early", #"{"channels":["a"]}"#)
        try await router.put("/db/stays", #"{"channels":["a"]}"#)
        try await router.put("/db/early", #"{"_rev":"\#(early)"}"#)
        let grant = try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        let gained = try await feed(router, ann, since: start.last)
        #expect(gained.rows.map(\.id) == ["stays"])
        #expect(try await feed(router, ann).rows.map(\.id) == ["stays"])
        try await router.ask("DELETE", "/db/grant?rev=\(grant)")
        let lost = try await feed(router, ann, since: gained.last)
        #expect(lost.rows.map(\.id) == ["stays"])
    }

    @Test func aPurgeTakesGrantsAndEntriesAlong() async throws {
        let router = try await channelRouter()
        let grant = try await router.put("/db/grant", #"{"access":{"ann":["a"]},"channels":["a"]}"#)
        try await router.put("/db/doc", #"{"channels":["a"]}"#)
        #expect(try await feed(router, ann).rows.map(\.id) == ["grant", "doc"])
        try await router.ask("POST", "/db/_purge", #"{"grant":["\#(grant)"]}"#)
        #expect(try await feed(router, ann).rows.isEmpty)
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 404)
    }

    @Test func whatChannelsKeepIsThereAfterReopening() async throws {
        let router = try await channelRouter()
        try await router.put("/db/doc", #"{"channels":["a"]}"#)
        try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        let before = try await feed(router, ann)
        router.router.databases.closeUnused()
        #expect(try await feed(router, ann).text == before.text)
        #expect(before.rows.map(\.id) == ["doc"])
        let database = try #require(try router.router.databases.database("db"))
        #expect(try await database.check().findings.isEmpty)
    }
}

// MARK: Changes as a client reads them

struct SeenChange {
    let id: String
    let revisions: [String]
    let isDeleted: Bool
    let isRevoked: Bool
}

func changes(_ router: TestRouter, _ user: UserContext) async throws -> [SeenChange] {
    try await feed(router, user).rows
}

func feed(
    _ router: TestRouter, _ user: UserContext, since: String = "0", _ query: String = ""
) async throws -> (rows: [SeenChange], last: String, text: String) {
    let answer = try await router.ask("GET", "/db/_changes?since=\(since)\(query)", as: user)
    let rows = try #require(answer["results"] as? [[String: Any]], "\(answer.text)")
    let changes = try rows.map { row in
        let revisions = try #require(row["changes"] as? [[String: String]])
        return SeenChange(
            id: try #require(row["id"] as? String), revisions: revisions.compactMap { $0["rev"] },
            isDeleted: row["deleted"] as? Bool ?? false, isRevoked: row["revoked"] as? Bool ?? false)
    }
    return (changes, try #require(answer["last_seq"] as? String), answer.text)
}
