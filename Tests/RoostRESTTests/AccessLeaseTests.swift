import Foundation
import Roost
import RoostWire
import Testing

@testable import RoostREST

/// Answers that are sent over a longer time end when what let them in does.
@Suite(.timeLimit(.minutes(2))) struct AccessLeaseTests {
    /// How a user loses access.
    enum Withdrawal: String, CaseIterable, Sendable {
        case accountDeleted, accountPurged, passwordChanged, rolesChanged, removedFromSecurity,
            databaseDeleted

        func happen(_ test: TestRouter) async throws {
            let account = "/_users/org.couchdb.user:mia"
            let revision = try await test.ask("GET", account)["_rev"] as? String ?? ""
            let changed = #""type":"user","name":"mia","_rev":"\#(revision)""#
            let answer =
                switch self {
                case .accountDeleted: try await test.ask("DELETE", "\(account)?rev=\(revision)")
                case .accountPurged:
                    try await test.ask(
                        "POST", "/_users/_purge", #"{"org.couchdb.user:mia":["\#(revision)"]}"#)
                case .passwordChanged:
                    try await test.ask("PUT", account, #"{\#(changed),"roles":[],"password":"other"}"#)
                case .rolesChanged:
                    try await test.ask("PUT", account, #"{\#(changed),"roles":["new"],"password":"pw"}"#)
                case .removedFromSecurity:
                    try await test.ask("PUT", "/db/_security", #"{"members":{"names":["anna"]}}"#)
                case .databaseDeleted: try await test.ask("DELETE", "/db")
                }
            #expect((200...201).contains(answer.status), "\(self): \(answer.text)")
        }
    }

    private static let security = #"{"members":{"names":["mia","anna"]}}"#

    /// A database whose members mia and anna are, and with a sync function their channels "pub".
    private func router(channels: Bool) async throws -> TestRouter {
        let test =
            channels ? try await channelRouter() : try TestRouter()
        if !channels { try await test.ask("PUT", "/db") }
        for name in ["mia", "anna"] {
            let user = #"{"type":"user","name":"\#(name)","roles":[],"password":"pw"}"#
            #expect(try await test.ask("PUT", "/_users/org.couchdb.user:\(name)", user).status == 201)
            if channels { try await test.ask("PUT", "/db/_user/\(name)", #"{"admin_channels":["pub"]}"#) }
        }
        #expect(try await test.ask("PUT", "/db/_security", Self.security).status == 200)
        return test
    }

    /// The body of an answer to a user who has logged in.
    private func body(
        _ test: TestRouter, _ target: String, _ request: String? = nil, as name: String = "mia"
    ) async throws -> any BodyStream {
        var headers = basic(name, "pw")
        headers["Content-Type"] = "application/json"
        let response = await test.router.respond(
            to: HTTPRequest(
                request == nil ? "GET" : "POST", target, headers: headers,
                body: request.map { BytesBody(Array($0.utf8)) }))
        #expect(response.status == 200)
        guard case .stream(let stream, _) = response.body else {
            Issue.record("\(target) is no stream")
            return BytesBody([])
        }
        return stream
    }

    @Test(
        arguments: Withdrawal.allCases,
        ["continuous", "longpoll", "eventsource"].flatMap { feed in
            [(feed, false), (feed, true)]
        })
    func aFeedThatWaitsEnds(_ withdrawal: Withdrawal, _ way: (feed: String, hasChannels: Bool)) async throws {
        let test = try await router(channels: way.hasChannels)
        let target = "/db/_changes?feed=\(way.feed)&since=now&include_docs=true&heartbeat=600000"
        let feed = try await body(test, target)
        _ = try await feed.next()
        let waiting = Task { try await feed.next() }
        try await withdrawal.happen(test)
        await #expect(throws: (any Error).self) { try await waiting.value }
    }

    /// Nothing that was made before is handed out after.
    @Test(arguments: Withdrawal.allCases, [false, true])
    func anAnswerThatIsBeingSentEnds(_ withdrawal: Withdrawal, hasChannels: Bool) async throws {
        let test = try await router(channels: hasChannels)
        // More than each kind of answer hands out at a time.
        let text = String(repeating: "x", count: 500)
        let documents = (0..<600).map { #"{"_id":"d\#($0)","channels":["pub"],"text":"\#(text)"}"# }
        let file = Data(repeating: 7, count: 300_000).base64EncodedString()
        let last = #"{"_id":"z","channels":["pub"],"_attachments":{"file":{"data":"\#(file)"}}}"#
        try await test.ask(
            "POST", "/db/_bulk_docs", "{\"docs\":[\((documents + [last]).joined(separator: ","))]}")
        let view = #"{"language":"roost","views":{"all":{"map":{"emit":[{"key":["._id"]}]}}}}"#
        #expect(try await test.ask("PUT", "/db/_design/v", view).status == 201)
        let ids = (0..<200).map { #"{"id":"d\#($0)"}"# }.joined(separator: ",")
        let requests: [(String, String?)] = [
            ("/db/_all_docs?include_docs=true", nil), ("/db/z/file", nil),
            ("/db/_find", #"{"selector":{},"limit":1000}"#), ("/db/_bulk_get", "{\"docs\":[\(ids)]}"),
            ("/db/_design/v/_view/all?include_docs=true&limit=1000", nil),
            ("/db/_changes?include_docs=true", nil),
        ]
        var bodies: [(String, any BodyStream)] = []
        for (target, request) in requests {
            let body = try await body(test, target, request)
            #expect(try await body.next() != nil)
            bodies.append((target, body))
        }
        try await withdrawal.happen(test)
        for (target, body) in bodies {
            await #expect(throws: (any Error).self, "\(target)") { try await body.next() }
        }
    }

    /// A body whose last byte comes when it is let.
    private actor SlowBody: BodyStream {
        private let bytes: [UInt8]
        private let pause: @Sendable () async throws -> Void
        private var left = 2

        init(_ text: String, _ pause: @escaping @Sendable () async throws -> Void) {
            bytes = Array(text.utf8)
            self.pause = pause
        }

        func next() async throws -> [UInt8]? {
            left -= 1
            switch left {
            case 1: return Array(bytes.dropLast())
            case 0:
                try await pause()
                return Array(bytes.suffix(1))
            default: return nil
            }
        }
    }

    /// What was begun to be sent before access was withdrawn is not saved after.
    @Test(arguments: Withdrawal.allCases, [false, true])
    func aSlowUploadIsNotSaved(_ withdrawal: Withdrawal, hasChannels: Bool) async throws {
        let document = #"{"_id":"sent","channels":["pub"],"_attachments":{"f":{"data":"aGk="}}}"#
        let parts =
            "--x\r\n\r\n{\"_attachments\":{\"f\":{\"follows\":true,\"length\":2}}}\r\n--x\r\n\r\nhi\r\n--x--"
        let uploads = [
            ("PUT", "/db/sent/file", "hello", "text/plain"),
            ("PUT", "/db/sent", document, "application/json"),
            ("POST", "/db", document, "application/json"),
            ("POST", "/db/_bulk_docs", "{\"docs\":[\(document)]}", "application/json"),
            ("PUT", "/db/sent", parts, "multipart/related; boundary=x"),
            ("PUT", "/db/_local/sent", #"{"n":1}"#, "application/json"),
        ]
        for (method, target, text, type) in uploads {
            let test = try await router(channels: hasChannels)
            var headers = basic("mia", "pw")
            headers["Content-Type"] = type
            let request = HTTPRequest(
                method, target, headers: headers,
                body: SlowBody(text) { try await withdrawal.happen(test) })
            let response = await test.router.respond(to: request)
            #expect((400..<500).contains(response.status), "\(method) \(target): \(response.status)")
            guard withdrawal != .databaseDeleted else { continue }
            #expect(try await test.ask("GET", "/db/sent").status == 404, "\(method) \(target)")
            #expect(try await test.ask("GET", "/db")["doc_count"] as? Int == 0)
            let locals = try #require(try test.router.databases.database("db")).defaultCollection.snapshot()
                .localDocumentNames
            #expect(locals.isEmpty)
        }
    }

    /// A channel that is withdrawn ends what shows a moment before that; a feed goes on and tells of it.
    @Test func aChannelThatIsWithdrawnIsLost() async throws {
        let test = try await router(channels: true)
        let text = String(repeating: "x", count: 1_000)
        let documents = (0..<200).map { #"{"_id":"d\#($0)","channels":["pub"],"text":"\#(text)"}"# }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
        let list = try await body(test, "/db/_all_docs?include_docs=true")
        let found = try await body(test, "/db/_find", #"{"selector":{},"limit":1000}"#)
        let feed = try await body(test, "/db/_changes?feed=continuous&since=now&heartbeat=600000")
        for body in [list, found, feed] { #expect(try await body.next() != nil) }
        try await test.ask("PUT", "/db/_user/mia", #"{"admin_channels":["other"]}"#)
        for body in [list, found] {
            await #expect(throws: (any Error).self) { try await body.next() }
        }
        try await test.put("/db/later", #"{"channels":["pub"]}"#)
        try await test.put("/db/mine", #"{"channels":["other"]}"#)
        var told = ""
        while !told.contains("\"mine\""), let piece = try await feed.next() {
            told += String(decoding: piece, as: UTF8.self)
        }
        #expect(told.contains(#""revoked":true"#) && !told.contains("later"), "\(told.suffix(500))")
    }

    /// What changes nothing about the user's access ends nothing.
    @Test(arguments: [false, true]) func othersGoOn(hasChannels: Bool) async throws {
        let test = try await router(channels: hasChannels)
        let feed = try await body(
            test, "/db/_changes?feed=continuous&since=now&heartbeat=600000", as: "anna")
        _ = try await feed.next()
        let waiting = Task { try await feed.next() }
        for withdrawal in Withdrawal.allCases where withdrawal != .databaseDeleted {
            if withdrawal == .accountPurged { continue }
            if withdrawal == .passwordChanged || withdrawal == .rolesChanged {
                let user = #"{"type":"user","name":"mia","roles":[],"password":"pw"}"#
                try await test.ask("PUT", "/_users/org.couchdb.user:mia", user)
            }
            try await withdrawal.happen(test)
        }
        // The account is saved again, with the same password and roles.
        let account = try await test.ask("GET", "/_users/org.couchdb.user:anna").text
        let again = account.replacingOccurrences(of: "\"type\"", with: "\"colour\":\"red\",\"type\"")
        #expect(try await test.ask("PUT", "/_users/org.couchdb.user:anna", again).status == 201)
        test.router.accessWatch.look()
        try await test.put("/db/doc", #"{"channels":["pub"]}"#)
        let piece = try #require(try await waiting.value)
        #expect(String(decoding: piece, as: UTF8.self).contains("\"doc\""))
    }

    /// Who has administered a database sees everything, and not as a member.
    @Test func anAdministratorWhoIsNoneAnyMoreIsSentNothing() async throws {
        let test = try await router(channels: true)
        let admins = #"{"admins":{"names":["mia"]},"members":{"names":["mia","anna"]}}"#
        try await test.ask("PUT", "/db/_security", admins)
        let feed = try await body(test, "/db/_changes?feed=continuous&since=now&heartbeat=600000")
        _ = try await feed.next()
        try await test.ask("PUT", "/db/_security", Self.security)
        try await test.put("/db/secret", #"{"channels":["board"]}"#)
        await #expect(throws: (any Error).self) { try await feed.next() }
    }
}
