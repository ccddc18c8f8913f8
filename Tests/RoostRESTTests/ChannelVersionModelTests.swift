import Foundation
import Roost
import RoostSimulation
import RoostWire
import Testing

@testable import RoostREST

/// Random documents, grants, roles and versions of the sync function, written through it and without it, against a model of who may
/// see what: while another version routes everything anew never more than by one of the two, afterwards just what it says.
@Suite final class ChannelVersionModelTests {
    /// What a version of the function decides on a document.
    private struct Decision: Codable {
        var refused = false
        var channels: [String] = []
        var access: [String: [String]] = [:]
        var roles: [String: [String]] = [:]

        static func random(_ random: inout SeededGenerator) -> Self {
            var decision = Self(refused: random.next() % 8 == 0, channels: random.some(["x", "y", "z", "!"]))
            guard random.next() % 3 == 0 else { return decision }
            for name in random.some(users + ["role:staff"]) {
                decision.access[name] = random.some(["x", "y", "z"])
            }
            for name in random.some(users) { decision.roles[name] = ["staff"] }
            return decision
        }
    }

    /// A device: what it holds, and how far it has read.
    private struct Device {
        var place = "0"
        var documents: [String: String] = [:]
    }

    private static let users = ["ann", "bob", "cid"]
    private static let versions = ["a", "b"]

    private let databases: DatabaseDirectory
    /// What each version decides on each document.
    private var entries: [String: [String: Decision]] = [:]

    init() throws {
        databases = try DatabaseDirectory(
            FileManager.default.temporaryDirectory.path + "/roost-versions-\(UUID().uuidString)")
    }

    deinit {
        for directory in [databases.directory, killed] {
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    private var killed: String { databases.directory + "-killed" }

    /// Has a server killed now and begun again: it finds the files as they are, and routes on.
    private func checkKill(_ version: String, from before: String) async throws {
        try? FileManager.default.removeItem(atPath: killed)
        try FileManager.default.copyItem(atPath: databases.directory, toPath: killed)
        let next = self.router(version, try DatabaseDirectory(killed))
        for name in Self.users {
            let shown = try await listMeanwhile(next, UserContext(name: name))
            let either = visible(before, name).union(visible(version, name))
            #expect(either.isSuperset(of: shown.keys), "after a kill, \(name)")
        }
        try await next.routeChannels(of: "db")
        for name in Self.users {
            #expect(try await Set(list(next, UserContext(name: name)).keys) == visible(version, name))
        }
        let database = try #require(try next.databases.database("db"))
        #expect(try await database.check().findings.isEmpty)
        try database.close()
    }

    /// A server whose function does what a document's member of this name says.
    private func router(_ version: String, _ databases: DatabaseDirectory) -> Router {
        var hooks = Hooks()
        hooks.sync = SyncFunction(version: version) { document, _, sync in
            let said = document[version]
            if said["refused"].bool == true { throw ValidationFailure.forbidden("no") }
            sync.channel((said["channels"].array ?? .empty).compactMap(\.string))
            for (user, channels) in said["access"].dictionary ?? .empty {
                sync.access([user], (channels.array ?? .empty).compactMap(\.string))
            }
            for (user, roles) in said["roles"].dictionary ?? .empty {
                sync.role([user], (roles.array ?? .empty).compactMap(\.string))
            }
        }
        return Router(databases, hooks: hooks)
    }

    /// Which documents a user may see by a version.
    private func visible(_ version: String, _ user: String) -> Set<String> {
        let decisions = entries.compactMapValues { $0[version] }.filter { !$0.value.refused }
        let roles = decisions.values.flatMap { $0.roles[user] ?? [] }.map { "role:\($0)" }
        let held = decisions.values.flatMap { decision in
            ([user] + roles).flatMap { decision.access[$0] ?? [] }
        }
        let channels = Set(held + ["!"])
        return Set(decisions.filter { !channels.isDisjoint(with: $0.value.channels) }.keys)
    }

    /// The documents that somebody is shown, with their revisions.
    /// What a user is shown while another version routes everything; nothing where the answer ended, since a channel was withdrawn
    /// while it was sent.
    private func listMeanwhile(_ router: Router, _ user: UserContext) async throws -> [String: String] {
        do {
            return try await list(router, user)
        } catch let failure as HTTPFailure where failure.status == 403 {
            return [:]
        }
    }

    private func list(_ router: Router, _ user: UserContext) async throws -> [String: String] {
        let answer = try await router.ask("GET", "/db/_all_docs", as: user)
        let rows = try #require(answer["rows"] as? [[String: Any]], "\(answer.text)")
        return try rows.reduce(into: [:]) { list, row in
            list[try #require(row["id"] as? String)] = (row["value"] as? [String: Any])?["rev"] as? String
        }
    }

    private func read(
        _ device: inout Device, _ router: Router, _ user: UserContext, _ known: Set<String>
    ) async throws {
        let answer = try await router.ask("GET", "/db/_changes?since=\(device.place)", as: user)
        for row in try #require(answer["results"] as? [[String: Any]], "\(answer.text)") {
            let id = try #require(row["id"] as? String)
            #expect(known.contains(id), "\(row)")
            let isGone = ["deleted", "removed", "revoked"].contains { row[$0] != nil }
            let revision = (row["changes"] as? [[String: String]])?.first?["rev"]
            device.documents[id] = isGone ? nil : revision
        }
        device.place = try #require(answer["last_seq"] as? String)
    }

    /// Writes a document through the function or as the program, or deletes it.
    private func write(
        _ id: String, _ router: Router, _ version: String, _ documents: DocumentCollection,
        _ random: inout SeededGenerator
    ) async throws {
        if random.next() % 6 == 0, entries.removeValue(forKey: id) != nil {
            try await documents.delete(id)
            return
        }
        var decisions: [String: Decision] = [:]
        for name in Self.versions { decisions[name] = .random(&random) }
        let body = String(decoding: try JSONEncoder().encode(decisions), as: UTF8.self)
        if random.next() % 2 == 0 {
            try await documents.save(json: body, id: id)
        } else {
            let revision = try await list(router, .admin)[id].map { "?rev=\($0)" } ?? ""
            let isRefused = decisions[version]?.refused == true
            let answer = try await router.ask("PUT", "/db/\(id)\(revision)", body)
            #expect(answer.status == (isRefused ? 403 : 201), "\(answer.text)")
            if isRefused { return }
        }
        entries[id] = decisions
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func nobodySeesMoreWhileVersionsChangeAndAllSeeWhatTheLastSays(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var version = "a"
        var router = router(version, databases)
        _ = try await router.ask("PUT", "/db")
        _ = try await router.ask("PUT", "/db/_security", #"{"members":{}}"#)
        let database = try #require(try databases.database("db"))
        let documents = try database.defaultCollection
        var devices: [String: Device] = [:]
        // What each user might have seen once.
        var known: [String: Set<String>] = [:]
        for step in 0..<80 {
            if random.next() % 5 == 0 {
                let before = version
                version = version == "a" ? "b" : "a"
                router = self.router(version, databases)
                let next = router
                async let end: Void = next.routeChannels(of: "db")
                for name in Self.users {
                    let shown = try await listMeanwhile(next, UserContext(name: name))
                    let either = visible(before, name).union(visible(version, name))
                    #expect(either.isSuperset(of: shown.keys), "seed \(seed), step \(step), \(name)")
                    try await checkKill(version, from: before)
                }
                try await end
            } else {
                let id = "doc\(random.next() % 10)"
                try await write(id, router, version, documents, &random)
                try await router.routeChannels(of: "db")
            }
            for name in Self.users { known[name, default: []].formUnion(visible(version, name)) }
            let revisions = try await list(router, .admin)
            #expect(Set(revisions.keys) == Set(entries.keys), "seed \(seed), step \(step)")
            let name = Self.users[Int(random.next() % 3)]
            let user = UserContext(name: name)
            let shown = visible(version, name)
            let expected = revisions.filter { shown.contains($0.key) }
            #expect(try await list(router, user) == expected, "seed \(seed), step \(step), \(name)")
            guard random.next() % 3 == 0 else { continue }
            var device = devices[name] ?? Device()
            try await read(&device, router, user, known[name] ?? [])
            devices[name] = device
            #expect(device.documents == expected, "seed \(seed), step \(step), \(name)")
        }
        #expect(try await database.check().findings.isEmpty)
    }
}
