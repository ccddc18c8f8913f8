import RoostSimulation
import Testing

@testable import RoostREST

/// Random documents, grants, roles, deletions and kills of the server against a model of who may see what: never more, and after the
/// changes were read just that.
@Suite struct ChannelModelTests {
    private struct Entry {
        let revision: String
        let channels: [String]
        let access: [String: [String]]
        let roles: [String: [String]]
    }

    /// A device: what it holds, and how far it has read.
    private struct Device {
        var place = "0"
        var documents: [String: String] = [:]
    }

    private static let users = ["ann", "bob", "cid"]
    private static let channels = ["a", "b", "c", "!", "user:ann"]
    private static let roles = ["staff", "chiefs"]

    /// What a user has by the server: the account's roles, and the channels that an administrator gives a user or `role:NAME`.
    private struct Appointments {
        var roles: [String: [String]] = [:]
        var channels: [String: [String]] = [:]
    }

    private static func held(
        _ entries: [String: Entry], _ user: String, _ appointed: Appointments
    ) -> Set<String> {
        let given = entries.values.flatMap { $0.roles[user] ?? [] }
        let principals = [user] + ((appointed.roles[user] ?? []) + given).map { "role:\($0)" }
        let grants = entries.values.map(\.access) + [appointed.channels]
        return Set(
            ["!", "user:\(user)"] + grants.flatMap { access in principals.flatMap { access[$0] ?? [] } })
    }

    private static func visible(
        _ entries: [String: Entry], _ user: String, _ appointed: Appointments
    ) -> [String: String] {
        let held = held(entries, user, appointed)
        return entries.filter { held.contains("*") || $0.value.channels.contains(where: held.contains) }
            .mapValues(\.revision)
    }

    /// Also where somebody listens, so that the newest entries are remembered.
    @Test(arguments: [1, 2, 3, 4] as [UInt64], [false, true])
    func devicesHoldJustWhatTheirUsersMaySee(_ seed: UInt64, isListening: Bool) async throws {
        var random = SeededGenerator(seed: seed)
        var router = try await channelRouter()
        _ = try await router.put(
            "/db/_design/v", #"{"language":"roost","views":{"all":{"map":{"emit":[{"key":[".channels"]}]}}}}"#
        )
        var listening = isListening ? try router.watch().listen(to: ["none"]) {} : nil
        defer { listening?.cancel() }
        var entries: [String: Entry] = [:]
        var gone: [String: String] = [:]
        var appointed = Appointments()
        var devices: [String: Device] = [:]
        // What each user might have seen once.
        var known: [String: Set<String>] = [:]
        for step in 0..<150 {
            if random.next() % 10 == 0 {
                router = try TestRouter(afterKilling: router)
                listening = isListening ? try router.watch().listen(to: ["none"]) {} : nil
            }
            let id = "doc\(random.next() % 12)"
            switch random.next() % 8 {
            case 0:
                guard let entry = entries.removeValue(forKey: id) else { break }
                let answer = try await router.ask("DELETE", "/db/\(id)?rev=\(entry.revision)")
                gone[id] = answer["rev"] as? String
            case 1:
                let name = Self.users[Int(random.next() % 3)]
                let roles = random.some(Self.roles)
                appointed.roles[name] = roles
                try await router.ask("GET", "/db/doc0", as: UserContext(name: name, roles: roles))
            case 2 where random.next() % 2 == 0:
                let name = (Self.users + Self.roles.map { "role:\($0)" })[Int(random.next() % 5)]
                let channels = random.some(["a", "b", "c"])
                appointed.channels[name] = channels
                let path = name.hasPrefix("role:") ? "_role/\(name.dropFirst(5))" : "_user/\(name)"
                try await router.ask("PUT", "/db/\(path)", "{\"admin_channels\":\(channels)}")
            default:
                var access: [String: [String]] = [:]
                var given: [String: [String]] = [:]
                if random.next() % 3 == 0 {
                    for name in random.some(Self.users + Self.roles.map { "role:\($0)" }) {
                        access[name] = random.some(["a", "b", "c"]) + (random.next() % 16 == 0 ? ["*"] : [])
                    }
                    for name in random.some(Self.users) { given[name] = random.some(Self.roles) }
                }
                let own = random.some(Self.channels)
                var members = [
                    "\"channels\":\(own)", "\"access\":\(Self.json(access))", "\"roles\":\(Self.json(given))",
                ]
                if let revision = entries[id]?.revision ?? gone[id] {
                    members.append("\"_rev\":\"\(revision)\"")
                }
                let body = "{" + members.joined(separator: ",") + "}"
                let revision = try await router.put("/db/\(id)", body)
                entries[id] = Entry(revision: revision, channels: own, access: access, roles: given)
            }
            for name in Self.users {
                let held = Self.held(entries, name, appointed)
                known[name, default: []].formUnion(Self.visible(entries, name, appointed).keys)
                // Who has all channels is told of tombstones, too.
                if held.contains("*") { known[name, default: []].formUnion(gone.keys) }
            }
            let name = Self.users[Int(random.next() % 3)]
            let user = UserContext(name: name, roles: appointed.roles[name] ?? [])
            let expected = Self.visible(entries, name, appointed)
            let list = try await router.ask("GET", "/db/_all_docs", as: user)
            let rows = try #require(list["rows"] as? [[String: Any]])
            #expect(
                Set(rows.compactMap { $0["id"] as? String }) == Set(expected.keys), "seed \(seed), \(step)")
            let view = try await router.ask("GET", "/db/_design/v/_view/all", as: user)
            let viewRows = try #require(view["rows"] as? [[String: Any]])
            #expect(
                Set(viewRows.compactMap { $0["id"] as? String }) == Set(expected.keys),
                "seed \(seed), \(step)")
            let found = try await router.ask("POST", "/db/_find", #"{"selector":{}}"#, as: user)
            let documents = try #require(found["docs"] as? [[String: Any]])
            #expect(
                documents.compactMap { $0["_rev"] as? String }.sorted() == expected.values.sorted(),
                "seed \(seed), \(step)")
            let status = try await router.ask("GET", "/db/\(id)", as: user).status
            #expect(status == (expected[id] == nil ? 404 : 200), "seed \(seed), \(step)")
            guard random.next() % 3 == 0 else { continue }
            var device = devices[name] ?? Device()
            let limit = 1 + Int(random.next() % 5)
            // Now and then a device is switched off after a page.
            let pages = random.next() % 3 == 0 ? 1 : Int.max
            let isWhole = try await Self.read(
                &device, router, user, expected, known[name] ?? [], limit: limit, pages: pages)
            devices[name] = device
            guard isWhole else { continue }
            #expect(device.documents == expected, "seed \(seed), step \(step), \(name)")
        }
    }

    /// Reads the changes, as a client does that knows of removals; answers whether to their end.
    private static func read(
        _ device: inout Device, _ router: TestRouter, _ user: UserContext, _ visible: [String: String],
        _ known: Set<String>, limit: Int, pages: Int
    ) async throws -> Bool {
        for _ in 0..<pages {
            let page = try await feed(router, user, since: device.place, "&limit=\(limit)")
            for row in page.rows {
                #expect(known.contains(row.id), "\(row)")
                if row.isDeleted || row.isRevoked {
                    device.documents[row.id] = nil
                } else {
                    #expect(visible[row.id] == row.revisions[0])
                    device.documents[row.id] = row.revisions[0]
                }
            }
            device.place = page.last
            if page.rows.count < limit { return true }
        }
        return false
    }

    private static func json(_ lists: [String: [String]]) -> String {
        "{" + lists.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }
}

extension SeededGenerator {
    /// A third of them.
    mutating func some(_ names: [String]) -> [String] { names.filter { _ in next() % 3 == 0 } }
}
