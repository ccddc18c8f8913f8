import RoostBytes
import RoostREST
import RoostWire
import Testing

@testable import RoostServer

/// What an operator bounds and watches: rates of requests, and figures of all that is bounded.
@Suite struct BoundsTests {
    private func request(_ target: String, _ fields: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\r\n"
    }

    private func status(_ answer: String) -> Int? { Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3)) }

    private func figures(_ test: TestServer) async throws -> [Substring: Int] {
        let answer = await test.router.respond(to: .get("/_node/_local/_prometheus"), as: .admin)
        let lines = String(decoding: try await answer.bytes(), as: UTF8.self).split(separator: "\n")
        return lines.reduce(into: [:]) { figures, line in
            let parts = line.split(separator: " ")
            if parts.count == 2 { figures[parts[0]] = Int(parts[1]) }
        }
    }

    @Test func anAddressSendsSoManyRequestsAMinute() async throws {
        var routing = RouterOptions()
        // One a minute, so that a slow machine takes no minute for two.
        routing.requestsPerMinuteOfAddress = 1
        let test = try await TestServer(routing: routing)
        #expect(status(try await test.exchange(request("/"))) == 200)
        let refused = try await test.exchange(request("/"))
        #expect(refused.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
        #expect(refused.contains("\"error\":\"too_many_requests\""))
        let seconds = refused.split(separator: "\r\n").first { $0.hasPrefix("Retry-After: ") }
        #expect((1...60).contains(Int(seconds?.dropFirst("Retry-After: ".count) ?? "") ?? 0))
        // Before a password is looked at; clients behind a proxy have rates of their own.
        #expect(status(try await test.exchange(request("/", "Authorization: Basic YTpi\r\n"))) == 429)
        #expect(status(try await test.exchange(request("/", "X-Forwarded-For: 192.0.2.7\r\n"))) == 200)
        await test.server.stop()
    }

    @Test func aUserSendsSoManyRequestsAMinuteFromAllAddresses() async throws {
        var routing = RouterOptions()
        routing.requestsPerMinuteOfUser = 1
        routing.admins = ["ada": "lovelace", "bob": "builder"]
        let test = try await TestServer(routing: routing)
        func ask(_ user: String, from address: String) async throws -> Int? {
            let code = Base64.encode(Array(user.utf8))
            return status(
                try await test.exchange(
                    request("/_all_dbs", "Authorization: Basic \(code)\r\nX-Forwarded-For: \(address)\r\n")))
        }
        // Who does not know the password takes nothing from the user.
        for _ in 0..<4 { #expect(try await ask("ada:wrong", from: "192.0.2.9") == 401) }
        #expect(try await ask("ada:lovelace", from: "192.0.2.1") == 200)
        #expect(try await ask("ada:lovelace", from: "192.0.2.4") == 429)
        #expect(try await ask("bob:builder", from: "192.0.2.4") == 200)
        // The rate is an option that a running server takes anew.
        routing.requestsPerMinuteOfUser = nil
        test.router.use(routing)
        #expect(try await ask("ada:lovelace", from: "192.0.2.4") == 200)
        await test.server.stop()
    }

    @Test func everythingThatIsBoundedHasAFigureAndItsLimit() async throws {
        let test = try await TestServer { $0.connections = 2 }
        let feeds = try (0..<2).map { _ in try test.connect() }
        for feed in feeds {
            await feed.send(
                "GET /db/_changes?feed=continuous&heartbeat=600000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = await feed.receive(until: "\r\n\r\n")
        }
        #expect(try await test.exchange(request("/")) == "")
        let figures = try await figures(test)
        #expect(figures["roost_open_connections"] == 2 && figures["roost_connections_limit"] == 2)
        #expect(figures["roost_refused_connections_total"] == 1)
        #expect(figures["roost_feeds"] == 2)
        #expect(figures["roost_web_sockets"] == 0)
        for name in ["roost_request_memory", "roost_unsaved_attachments"] {
            #expect(figures["\(name)_bytes"] == 0 && (figures["\(name)_limit_bytes"] ?? 0) > 0)
            #expect(figures["\(name)_waiting"] == 0)
        }
        #expect(figures["roost_workers_limit"] == 8 && figures["roost_workers_busy"] != nil)
        #expect(figures["roost_workers_waiting"] == 0 && figures["roost_requests_under_way"] != nil)
        #expect(figures["roost_password_checks_busy"] == 0 && figures["roost_password_checks_waiting"] == 0)
        #expect(figures["roost_password_checks_waiting_limit"] == 1024)
        #expect(figures["roost_log_in_attempts"] == 0 && (figures["roost_log_in_attempts_limit"] ?? 0) > 0)
        #expect(figures["roost_rate_senders"] == 0 && (figures["roost_rate_senders_limit"] ?? 0) > 0)

        for feed in feeds { feed.close() }
        try await test.waitForConnections(0)
        #expect(try await self.figures(test)["roost_feeds"] == 0)
        await test.server.stop()
    }
}
