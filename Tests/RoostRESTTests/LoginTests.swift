import Foundation
import Roost
import RoostCrypto
import RoostWire
import Synchronization
import Testing

@testable import RoostREST

/// Logging in under attack: guesses, floods, proxies, changes at the same time.
@Suite struct LoginTests {
    private func filled(_ change: (inout RouterOptions) -> Void = { _ in }) async throws -> TestRouter {
        let test = try TestRouter { options, _ in
            options.admins = ["anna": "secret"]
            change(&options)
        }
        let user = #"{"type":"user","name":"mia","roles":["staff"],"password":"old"}"#
        #expect(try await test.ask("PUT", "/_users/org.couchdb.user:mia", user).status == 201)
        return test
    }

    private func session(
        _ test: TestRouter, _ name: String, _ password: String, peer: String = "192.0.2.1",
        _ more: HTTPHeaders = HTTPHeaders()
    ) async throws -> Int {
        var headers = basic(name, password)
        for field in more.fields { headers.add(field.name, field.value) }
        return try await test.askAsListener("GET", "/_session", headers: headers, peer: peer).status
    }

    private let key = SymmetricKey.random()

    // MARK: Counting

    /// Whatever names and addresses are tried, a bounded number is remembered.
    @Test func whatIsRememberedHasABound() {
        var attempts = LoginAttempts()
        for number in 0..<20_000 {
            let address = AttemptKey("\(number)", key: key)
            let pair = AttemptKey("name", "\(number)", key: key)
            attempts.begin(pair)
            attempts.end(pair, address, 0, isRight: number % 3 == 0)
        }
        #expect(attempts.count <= 3 * LoginAttempts.mostEntries)
        var values = RecentValues<Int, Int>(limit: 10)
        for number in 0..<1_000 { values[number] = number }
        #expect(values.count <= 10 && values[999] == 999 && values[0] == nil)
    }

    /// The attempt that is refused is the sixth also where all of them come at once: they count before they are checked.
    @Test func attemptsCountBeforeTheyAreChecked() throws {
        var attempts = LoginAttempts()
        let (pair, address) = (AttemptKey("mia", "a", key: key), AttemptKey("a", key: key))
        for _ in 0..<5 {
            try attempts.check(pair, address, 0)
            attempts.begin(pair)
        }
        #expect(throws: HTTPFailure.self) { try attempts.check(pair, address, 0) }
        for _ in 0..<5 { attempts.end(pair, address, 0, isRight: nil) }
        try attempts.check(pair, address, 0)
        #expect(attempts.count == 0)
    }

    @Test func anAddressThatTriesManyNamesIsLeftWithItsOwn() async throws {
        let test = try await filled()
        #expect(try await session(test, "mia", "old") == 200)
        for number in 0..<50 { #expect(try await session(test, "x\(number)", "x") == 401) }
        #expect(try await session(test, "x", "x") == 403)
        #expect(try await session(test, "anna", "secret") == 403)
        // By this name it has logged in before; others are not concerned.
        #expect(try await session(test, "mia", "old") == 200)
        #expect(try await session(test, "anna", "secret", peer: "192.0.2.2") == 200)
    }

    /// A client of version 6 has a network of addresses.
    @Test func aNetworkIsOneAddress() {
        #expect(ClientAddress.network(of: "2001:db8::1") == ClientAddress.network(of: "2001:db8::2:3"))
        #expect(ClientAddress.network(of: "2001:db8::1") != ClientAddress.network(of: "2001:db8:0:1::1"))
        #expect(ClientAddress.network(of: "192.0.2.1") != ClientAddress.network(of: "192.0.2.2"))
    }

    @Test func requestsOfOneLaneAreBoundedAndOthersHaveTheirTurns() async throws {
        let work = PasswordWork(threads: 1)
        let gate = DispatchSemaphore(value: 0)
        let order = OrderOfRuns()
        let (mallory, mia) = (AttemptKey("m", key: key), AttemptKey("a", key: key))
        async let first: Void = work.run(mallory) { gate.wait() }
        while work.idleCount > 0 { await Task.yield() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        try await work.run(mallory) { order.note("mallory") }
                    } catch let failure as HTTPFailure {
                        #expect(failure.status == 503)
                        order.note("refused")
                    }
                }
            }
            while order.all.count < 4 { await Task.yield() }
            #expect(work.waitingCount == 16)
            group.addTask { try await work.run(mia) { order.note("mia") } }
            while work.waitingCount < 17 { await Task.yield() }
            gate.signal()
            try await group.waitForAll()
        }
        try await first
        #expect(order.all.prefix(6) == ["refused", "refused", "refused", "refused", "mallory", "mia"])
    }

    // MARK: Proxies

    @Test func aProxysClientsAreToldApart() async throws {
        let test = try await filled()
        let (one, other): (HTTPHeaders, HTTPHeaders) = (
            ["X-Forwarded-For": "203.0.113.7"], ["X-Forwarded-For": "198.51.100.1"]
        )
        for name in ["mia", "anna"] {
            for _ in 0..<5 { #expect(try await session(test, name, "x", peer: "127.0.0.1", one) == 401) }
            #expect(try await session(test, name, "x", peer: "127.0.0.1", one) == 403)
        }
        #expect(try await session(test, "anna", "secret", peer: "127.0.0.1", other) == 200)
        #expect(try await session(test, "mia", "old", peer: "127.0.0.1") == 200)
        // What the client itself wrote before the proxy added its address counts for nothing.
        let forged: HTTPHeaders = ["X-Forwarded-For": "192.0.2.99, 203.0.113.7"]
        #expect(try await session(test, "anna", "secret", peer: "127.0.0.1", forged) == 403)
        // Nor does the field of a client that is no proxy.
        for _ in 0..<5 { #expect(try await session(test, "mia", "x", peer: "192.0.2.5") == 401) }
        #expect(try await session(test, "mia", "old", peer: "192.0.2.5", other) == 403)
    }

    @Test func proxiesAreKnownByTheirNetworks() throws {
        func peer(_ proxies: [String], _ peer: String, _ forwarded: String) throws -> String {
            var request = HTTPRequest.get("/", headers: ["X-Forwarded-For": forwarded])
            request.peer = peer
            return try #require(TrustedProxies(proxies)).resolved(request).peer
        }
        #expect(try peer(["10.0.0.0/8"], "10.1.2.3", "192.0.2.1") == "192.0.2.1")
        #expect(try peer(["10.0.0.0/8"], "11.1.2.3", "192.0.2.1") == "11.1.2.3")
        #expect(try peer(["10.0.0.0/8"], "10.1.2.3", "192.0.2.1, 10.9.9.9") == "192.0.2.1")
        #expect(try peer(["10.0.0.0/8"], "10.1.2.3", "no address") == "10.1.2.3")
        #expect(try peer(["fd00::/8", "::1"], "fd12::1", "2001:db8::1") == "2001:db8::1")
        #expect(try peer(["127.0.0.1"], "::ffff:127.0.0.1", "192.0.2.1") == "192.0.2.1")
        #expect(try peer([], "127.0.0.1", "192.0.2.1") == "127.0.0.1")
        for text in ["x", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/-1", ""] {
            #expect(TrustedProxies([text]) == nil, "\(text)")
        }
    }

    @Test func addressesAreOfTheSchemeThatTheClientSees() async throws {
        let test = try await filled()
        var headers = basic("anna", "secret")
        headers["Host"] = "db.example.org"
        headers["X-Forwarded-Proto"] = "https"
        let proxied = try await test.askAsListener("PUT", "/db", headers: headers, peer: "127.0.0.1")
        #expect(proxied.headers["Location"] == "https://db.example.org/db")
        let saved = try await test.askAsListener("PUT", "/db/a", "{}", headers: headers, peer: "127.0.0.1")
        #expect(saved.headers["Location"] == "https://db.example.org/db/a")
        let direct = try await test.askAsListener("PUT", "/db/b", "{}", headers: headers)
        #expect(direct.headers["Location"] == "http://db.example.org/db/b")
        let login = try await test.askAsListener(
            "POST", "/_session", #"{"name":"mia","password":"old"}"#, headers: ["X-Forwarded-Proto": "https"],
            peer: "127.0.0.1")
        #expect(login.headers["Set-Cookie"]?.hasSuffix("; Secure") == true)
    }

    // MARK: Changes

    /// Also where the old password is being checked while it is changed.
    @Test func anOldPasswordEndsWithTheChange() async throws {
        let test = try await filled { $0.passwordRounds = 20_000 }
        let revision = try #require(
            try await test.ask("GET", "/_users/org.couchdb.user:mia")["_rev"] as? String)
        let body = #"{"type":"user","name":"mia","roles":[],"password":"new"}"#
        let users = (0..<4).map { number in
            Task {
                var cookies: [HTTPHeaders] = []
                while !Task.isCancelled {
                    let login = try await test.askAsListener(
                        "POST", "/_session", #"{"name":"mia","password":"old"}"#, peer: "192.0.2.\(number)")
                    if let field = login.headers["Set-Cookie"], login.status == 200 {
                        cookies = [["Cookie": String(field.prefix { $0 != ";" })]]
                    } else {
                        break
                    }
                }
                return cookies
            }
        }
        let change = try await test.ask("PUT", "/_users/org.couchdb.user:mia?rev=\(revision)", body)
        #expect(change.status == 201)
        #expect(try await session(test, "mia", "old", peer: "192.0.2.9") == 401)
        for user in users {
            user.cancel()
            for cookie in try await user.value {
                let answer = try await test.askAsListener("GET", "/_session", headers: cookie)
                #expect(answer.text.contains(#""name":null"#))
            }
        }
        #expect(try await session(test, "mia", "old", peer: "192.0.2.9") == 401)
        #expect(try await session(test, "mia", "new", peer: "192.0.2.9") == 200)
    }

    @Test func aVerifiedPasswordHasThePresentRoles() async throws {
        let test = try await filled()
        let users = try test.router.databases.create("_users").defaultCollection
        #expect(try await session(test, "mia", "old") == 200)
        // Past the router, as a replication or another process does it.
        var draft = try #require(try users.document("org.couchdb.user:mia")?.mutableCopy())
        draft.properties["roles"] = .array([])
        try await users.save(&draft)
        let answer = try await test.askAsListener("GET", "/_session", headers: basic("mia", "old"))
        #expect(answer.text.contains(#""name":"mia","roles":[]"#), "\(answer.text)")
        try await users.delete("org.couchdb.user:mia")
        #expect(try await session(test, "mia", "old") == 401)
    }

    @Test func whoWasIdentifiedIsNoLongerWhenTheAccountHasChanged() async throws {
        let test = try await filled()
        let accounts = test.router.accounts
        let users = try test.router.databases.create("_users").defaultCollection
        let (before, mia) = (try accounts.moment(), try #require(try accounts.user("mia")))
        #expect(try accounts.holds(mia))
        try await users.delete("org.couchdb.user:mia")
        #expect(try accounts.moment() != before)
        #expect(try !accounts.holds(mia))
        #expect(try accounts.user("mia") == nil)
        #expect(try accounts.user("anna") == UserContext(name: "anna", roles: ["_admin"]))
    }

    /// That accounts can't be read is no wrong password.
    @Test func anErrorOfTheMediumIsNo401() async throws {
        let test = try await filled()
        try #require(try test.router.databases.database("_users")).close()
        let status = try await session(test, "mia", "old")
        #expect(status >= 500)
        let login = try await test.askAsListener("POST", "/_session", #"{"name":"mia","password":"old"}"#)
        #expect(login.status >= 500)
    }

    // MARK: Requests of strangers

    @Test(arguments: ["application/json", "application/x-www-form-urlencoded"])
    func aLongLoginIsNotRead(type: String) async throws {
        let test = try await filled()
        let body =
            type.contains("json")
            ? #"{"name":["# + String(repeating: "1,", count: 10_000) + "1]}"
            : "name=" + String(repeating: "x", count: 10_000)
        let answer = try await test.askAsListener("POST", "/_session", body, headers: ["Content-Type": type])
        #expect(answer.status == 413)
    }

    /// Every page may read what everybody may; none of those that `*` admits does so as its visitor.
    @Test func allOriginsAreAdmittedWithoutCredentials() async throws {
        let test = try await filled { $0.origins = ["*", "https://app.example.org"] }
        let login = try await test.askAsListener("POST", "/_session", #"{"name":"mia","password":"old"}"#)
        let cookie = String(try #require(login.headers["Set-Cookie"]).prefix { $0 != ";" })
        func ask(_ origin: String) async throws -> TestRouter.Answer {
            try await test.askAsListener("GET", "/_session", headers: ["Cookie": cookie, "Origin": origin])
        }
        let any = try await ask("https://evil.example")
        #expect(any.headers["Access-Control-Allow-Origin"] == "*")
        #expect(any.headers["Access-Control-Allow-Credentials"] == nil && any.text.contains(#""name":null"#))
        let preflight = try await test.askAsListener(
            "OPTIONS", "/_session",
            headers: ["Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"])
        #expect(preflight.headers["Access-Control-Allow-Credentials"] == nil)
        let named = try await ask("https://app.example.org")
        #expect(named.headers["Access-Control-Allow-Origin"] == "https://app.example.org")
        #expect(named.headers["Access-Control-Allow-Credentials"] == "true" && named.text.contains("mia"))
    }

    // MARK: Secrets

    @Test func processesThatStartTogetherReadOneSecret() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/roost-secret-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/secret"
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<32 { group.addTask { try SecretFile.text(path) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(texts.count == 1 && texts.first?.utf8.count == 32)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["secret"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        // A part of one that an earlier build was killed over is replaced, what can't be read is not.
        try Data("abc".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try SecretFile.text(path).utf8.count == 32)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: (any Error).self) { try SecretFile.text(path) }
    }
}

/// What ran, in order.
private final class OrderOfRuns: Sendable {
    private let runs = Mutex<[String]>([])

    var all: [String] { runs.withLock { $0 } }

    func note(_ name: String) { runs.withLock { $0.append(name) } }
}
