import Fleece
import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization
import Testing

/// Documents that were written without asking the sync function, by routers over one directory.
@Suite final class ChannelRoutingTests {
    private let databases: DatabaseDirectory

    init() throws {
        databases = try DatabaseDirectory(
            FileManager.default.temporaryDirectory.path + "/roost-routing-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(atPath: databases.directory) }

    /// A function that does what the document says in the members of this name, and counts the documents that it is asked about.
    private func function(
        _ member: String, version: String, _ count: Count = Count(),
        beginning: @escaping @Sendable (String) -> Void = { _ in }
    ) -> SyncFunction {
        SyncFunction(version: version) { document, _, sync in
            count.add()
            beginning(document.id)
            let routing = document[member]
            if let reason = routing["refused"].string { throw ValidationFailure.forbidden(reason) }
            sync.channel((routing["channels"].array ?? .empty).compactMap(\.string))
            for (user, channels) in routing["access"].dictionary ?? .empty {
                sync.access([user], (channels.array ?? .empty).compactMap(\.string))
            }
        }
    }

    private final class Count: Sendable {
        private let asked = Mutex(0)
        var value: Int { asked.withLock { $0 } }
        func add() { asked.withLock { $0 += 1 } }
    }

    private func router(_ sync: SyncFunction?) -> Router {
        var hooks = Hooks()
        hooks.sync = sync
        return Router(databases, hooks: hooks)
    }

    private func makeDatabase() async throws -> Database {
        let router = router(nil)
        try await router.ask("PUT", "/db")
        try await router.ask("PUT", "/db/_security", #"{"members":{}}"#)
        return try #require(try databases.database("db"))
    }

    private func ids(_ router: Router, _ user: UserContext) async throws -> [String] {
        let rows = try await router.ask("GET", "/db/_all_docs", as: user)["rows"] as? [[String: Any]]
        return try #require(rows).compactMap { $0["id"] as? String }
    }

    /// What a user's changes tell after a place: IDs, with a minus before what they lose.
    private func changes(_ router: Router, _ user: UserContext, _ since: String) async throws -> (
        told: [String], last: String
    ) {
        let answer = try await router.ask("GET", "/db/_changes?since=\(since)", as: user)
        let rows = try #require(answer["results"] as? [[String: Any]])
        let told = rows.map { ($0["removed"] == nil ? "" : "-") + ($0["id"] as? String ?? "") }
        return (told, try #require(answer["last_seq"] as? String))
    }

    @Test func whatWasThereBeforeTheFunctionIsRouted() async throws {
        let database = try await makeDatabase()
        let documents = try database.defaultCollection
        try await database.write { batch in
            // More than are looked at in one part.
            for number in 0..<250 {
                let json = #"{"a":{"channels":["\#(number % 2 == 0 ? "even" : "odd")"]}}"#
                try batch.save(json: json, id: "d\(1000 + number)", in: documents)
            }
            try batch.save(
                json: #"{"a":{"access":{"ann":["even"],"bob":["*"]}}}"#, id: "grant", in: documents)
            try batch.save(json: #"{"a":{"channels":["even"],"refused":"no"}}"#, id: "refused", in: documents)
        }
        let router = router(function("a", version: "1"))
        let start = try await changes(router, ann, "0").last
        try await router.routeChannels(of: "db")
        let even = stride(from: 0, to: 250, by: 2).map { "d\(1000 + $0)" }
        #expect(try await ids(router, ann) == even)
        #expect(Set(try await changes(router, ann, start).told) == Set(even))
        #expect(try await ids(router, bob).count == 251)
        #expect(try await ids(router, .admin).count == 252)
        for user in [ann, bob] {
            #expect(try await router.ask("GET", "/db/refused", as: user).status == 404)
        }
    }

    @Test func anotherVersionRoutesEverythingAnew() async throws {
        let database = try await makeDatabase()
        let first = router(function("a", version: "1"))
        try await first.ask(
            "PUT", "/db/grant", #"{"a":{"access":{"ann":["x"]}},"b":{"access":{"ann":["x"]}}}"#)
        try await first.ask("PUT", "/db/stays", #"{"a":{"channels":["x"]},"b":{"channels":["x"]}}"#)
        try await first.ask("PUT", "/db/comes", #"{"a":{"channels":["y"]},"b":{"channels":["x"]}}"#)
        try await first.ask("PUT", "/db/goes", #"{"a":{"channels":["x"]},"b":{"channels":["y"]}}"#)
        try await first.ask("PUT", "/db/lost", #"{"a":{"channels":["x"]},"b":{"refused":"now"}}"#)
        let (told, place) = try await changes(first, ann, "0")
        #expect(Set(told) == ["stays", "goes", "lost"])
        // What the requests have begun is over when the next version comes, as a server's are.
        try await first.routeChannels(of: "db")

        let second = router(function("b", version: "2"))
        try await second.routeChannels(of: "db")
        #expect(try await ids(second, ann) == ["comes", "stays"])
        #expect(Set(try await changes(second, ann, place).told) == ["comes", "-goes", "-lost"])
        for id in ["goes", "lost"] {
            #expect(try await second.ask("GET", "/db/\(id)", as: ann).status == 404)
        }
        // The first version again, as when a server is put back.
        try await first.routeChannels(of: "db")
        #expect(try await ids(first, ann) == ["goes", "lost", "stays"])
        #expect(try await database.check().isClean)
    }

    @Test func grantsFollowTheVersion() async throws {
        let database = try await makeDatabase()
        let first = router(function("a", version: "1"))
        try await first.ask(
            "PUT", "/db/room", #"{"a":{"access":{"ann":["x"]}},"b":{"access":{"bob":["x"]}}}"#)
        try await first.ask("PUT", "/db/doc", #"{"a":{"channels":["x"]},"b":{"channels":["x"]}}"#)
        #expect(try await ids(first, ann) == ["doc"])
        #expect(try await ids(first, bob).isEmpty)
        let place = try await changes(first, ann, "0").last
        try await first.routeChannels(of: "db")
        let second = router(function("b", version: "2"))
        try await second.routeChannels(of: "db")
        #expect(try await ids(second, ann).isEmpty)
        #expect(try await changes(second, ann, place).told == ["-doc"])
        #expect(try await ids(second, bob) == ["doc"])
        #expect(try await database.check().findings.isEmpty)
    }

    /// A channel of the one version is not seen by a grant of the other, at no moment between the two.
    @Test func nobodySeesMoreThanByOneOfTheVersions() async throws {
        let database = try await makeDatabase()
        let documents = try database.defaultCollection
        let first = router(function("a", version: "1"))
        try await first.ask("PUT", "/db/gives-x", #"{"b":{"access":{"bob":["x","y"]}}}"#)
        // So many that each end of the changes is routed in another part.
        try await database.write { batch in
            for number in 0..<150 { try batch.save(json: "{}", id: "f\(number)", in: documents) }
        }
        try await first.routeChannels(of: "db")
        try await first.ask("PUT", "/db/moves", #"{"a":{"channels":["x"]},"b":{"channels":["z"]}}"#)
        try await first.ask("PUT", "/db/gives-y", #"{"a":{"access":{"ann":["x","y"]}}}"#)
        try await first.routeChannels(of: "db")
        #expect(try await ids(first, ann) == ["moves"])
        #expect(try await ids(first, bob).isEmpty)

        // The second version stops at every fiftieth of the documents in between.
        let (entered, entrance) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let stops = (0..<150).filter { $0 % 50 == 49 }.map { "f\($0)" }
        let second = router(
            function("b", version: "2") { id in
                guard stops.contains(id) else { return }
                entrance.yield()
                gate.wait()
            })
        _ = try await ids(second, bob)
        var seen = 0
        for await _ in entered {
            #expect(try await ids(second, bob).isEmpty)
            #expect(try await ids(second, ann).allSatisfy { $0 == "moves" })
            if seen == 0 {
                let saved = try await second.ask("PUT", "/db/fresh", #"{"b":{"channels":["y"]}}"#)
                #expect(saved.status == 201)
                #expect(try await !ids(second, ann).contains("fresh"))
            }
            gate.signal()
            seen += 1
            if seen == 2 * stops.count { break }
        }
        try await second.routeChannels(of: "db")
        #expect(try await ids(second, ann).isEmpty)
        #expect(try await ids(second, bob) == ["fresh"])
        #expect(try await database.check().findings.isEmpty)
    }

    @Test func whatTheProgramWritesIsRoutedAndWhatItRemovesGivesNothing() async throws {
        let database = try await makeDatabase()
        let documents = try database.defaultCollection
        let router = router(function("a", version: "1"))
        try await router.ask("PUT", "/db/room1", #"{"a":{"access":{"ann":["x"]}}}"#)
        try await router.ask("PUT", "/db/room2", #"{"a":{"access":{"ann":["y"]}}}"#)
        try await router.ask("PUT", "/db/in-x", #"{"a":{"channels":["x"]}}"#)
        try await router.ask("PUT", "/db/in-y", #"{"a":{"channels":["y"]}}"#)
        try await router.routeChannels(of: "db")
        let place = try await changes(router, ann, "0").last

        try await documents.save(json: #"{"a":{"channels":["x"]}}"#, id: "by-program")
        try await documents.save(json: #"{"a":{"channels":["z"]}}"#, id: "in-y")
        try await router.routeChannels(of: "db")
        #expect(try await ids(router, ann) == ["by-program", "in-x"])
        #expect(Set(try await changes(router, ann, place).told) == ["by-program", "-in-y"])

        try await documents.delete("room1")
        try await router.routeChannels(of: "db")
        #expect(try await ids(router, ann).isEmpty)
        try await documents.save(json: #"{"a":{"channels":["y"]}}"#, id: "in-y")
        try await router.routeChannels(of: "db")
        #expect(try await ids(router, ann) == ["in-y"])
        try await documents.purge("room2")
        try await router.routeChannels(of: "db")
        #expect(try await ids(router, ann).isEmpty)
        #expect(try await database.check().findings.isEmpty)
    }

    @Test func conflictsAreRoutedLeafByLeaf() async throws {
        let database = try await makeDatabase()
        let documents = try database.defaultCollection
        let router = router(function("a", version: "1"))
        try await router.ask("PUT", "/db/room", #"{"a":{"access":{"ann":["x"],"bob":["y"]}}}"#)
        try await database.write { batch in
            for (revision, channel) in [("1-aa", "x"), ("1-bb", "y")] {
                let json = #"{"_id":"doc","_rev":"\#(revision)","a":{"channels":["\#(channel)"]}}"#
                try batch.insert(IncomingDocument(json: json), in: documents)
            }
        }
        try await router.routeChannels(of: "db")
        #expect(try await router.ask("GET", "/db/doc?rev=1-aa", as: ann).status == 200)
        #expect(try await router.ask("GET", "/db/doc?rev=1-bb", as: ann).status == 404)
        #expect(try await router.ask("GET", "/db/doc?rev=1-bb", as: bob).status == 200)
        #expect(try await router.ask("GET", "/db/doc?rev=1-aa", as: bob).status == 404)
        // Gives the document another sequence, and none of its revisions.
        let second = self.router(function("b", version: "2"))
        try await second.routeChannels(of: "db")
        #expect(try await second.ask("GET", "/db/doc?rev=1-aa", as: ann).status == 404)
        #expect(try await database.check().isClean)
    }

    @Test func whatIsRoutedIsNotAskedAboutAgain() async throws {
        let database = try await makeDatabase()
        let documents = try database.defaultCollection
        try await database.write { batch in
            for number in 0..<150 { try batch.save(json: "{}", id: "d\(number)", in: documents) }
        }
        let count = Count()
        let first = router(function("a", version: "1", count))
        try await first.routeChannels(of: "db")
        #expect(count.value == 150)
        let last = try documents.snapshot().lastSequence
        try await first.routeChannels(of: "db")
        // As after a start anew: the place is kept in the database.
        try await router(function("a", version: "1", count)).routeChannels(of: "db")
        #expect(count.value == 150)
        #expect(try documents.snapshot().lastSequence == last)
        try await first.ask("PUT", "/db/new", "{}")
        try await first.routeChannels(of: "db")
        #expect(count.value == 151)
    }

    @Test func requestsHaveItDoneAndTasksTellOfIt() async throws {
        let database = try await makeDatabase()
        try await database.defaultCollection.save(json: #"{"a":{"channels":["!"]}}"#, id: "doc")
        let (entered, entrance) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let router = router(
            SyncFunction { document, _, sync in
                entrance.yield()
                gate.wait()
                sync.channel("!")
            })
        #expect(try await ids(router, ann).isEmpty)
        for await _ in entered { break }
        let tasks = try await router.ask("GET", "/_active_tasks").json as? [[String: Any]]
        let task = try #require(tasks?.first { $0["type"] as? String == "channel_routing" })
        #expect(task["database"] as? String == "db")
        #expect(task["total_changes"] as? Int == 1)
        #expect(task["changes_done"] as? Int == 0)
        #expect(try await ids(router, ann).isEmpty)
        gate.signal()
        try await router.routeChannels(of: "db")
        #expect(try await ids(router, ann) == ["doc"])
        let later = try await router.ask("GET", "/_active_tasks").json as? [[String: Any]]
        #expect(later?.isEmpty == true)
    }
}
