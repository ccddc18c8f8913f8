import Foundation
import RoostREST
import RoostWire
import Testing

/// `_db_updates`: what happened to the databases of a server.
@Suite(.timeLimit(.minutes(1))) struct DatabaseUpdatesTests {
    private func rows(_ answer: TestRouter.Answer) -> [String] {
        (answer["results"] as? [[String: Any]])?.map {
            "\($0["type"] as? String ?? "?") \($0["db_name"] as? String ?? "?")"
        } ?? [answer.text]
    }

    /// The first row after a place, for which a feed waits.
    private func next(_ test: TestRouter, since token: String) async throws -> String {
        rows(try await test.ask("GET", "/_db_updates?feed=longpoll&since=\(token)")).joined(separator: ", ")
    }

    @Test func whatIsCreatedChangedAndDeleted() async throws {
        let test = try TestRouter()
        for name in ["a", "b"] { try await test.ask("PUT", "/\(name)") }
        let first = try await test.ask("GET", "/_db_updates")
        #expect(rows(first) == ["created a", "created b"])
        let token = try #require(first["last_seq"] as? String)
        #expect(rows(try await test.ask("GET", "/_db_updates?since=\(token)")).isEmpty)
        #expect(rows(try await test.ask("GET", "/_db_updates?since=now")).isEmpty)
        #expect(rows(try await test.ask("GET", "/_db_updates?limit=1")) == ["created a"])
        try await test.put("/b/x", "{}")
        #expect(try await next(test, since: token) == "updated b")
        let second = try #require(try await test.ask("GET", "/_db_updates")["last_seq"] as? String)
        try await test.ask("PUT", "/c")
        #expect(try await next(test, since: second) == "created c")
        try await test.ask("DELETE", "/a")
        #expect(
            rows(try await test.ask("GET", "/_db_updates"))
                == ["created a", "created b", "updated b", "created c", "deleted a"])
    }

    /// A feed that waits is woken by each change, also by one that comes while the one before is being noted.
    @Test func aFeedThatWaitsGoesOn() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/a")
        var token = try #require(try await test.ask("GET", "/_db_updates")["last_seq"] as? String)
        for number in 0..<20 {
            let since = token
            async let waiting = test.ask("GET", "/_db_updates?feed=longpoll&since=\(since)")
            try await test.put("/a/n\(number)", "{}")
            let answer = try await waiting
            #expect(rows(answer) == ["updated a"])
            token = try #require(answer["last_seq"] as? String)
        }
    }

    @Test func feedsOfLinesAndOfEvents() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/a")
        let lines = try await test.ask("GET", "/_db_updates?feed=continuous&timeout=1").text
        #expect(
            lines.contains(#"{"db_name":"a","type":"created","seq":"1-"#)
                && lines.contains(#"{"last_seq":"1-"#))
        let events = try await test.ask("GET", "/_db_updates?feed=eventsource&limit=1")
        #expect(events.headers["Content-Type"] == "text/event-stream")
        #expect(events.text.contains(#"data: {"db_name":"a","type":"created""#))
    }

    /// A token of another run of the server is no place in this one: everything is told again.
    @Test func aTokenOfAnotherRunBeginsAgain() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/a")
        for token in ["1-0123456789abcdef", "99", "1", "x", ""] {
            #expect(
                rows(try await test.ask("GET", "/_db_updates?since=\(token)")) == ["created a"], "\(token)")
        }
    }

    @Test func onlyAdministratorsAreTold() async throws {
        let test = try TestRouter()
        let answer = try await test.ask("GET", "/_db_updates", as: UserContext(name: "anna"))
        #expect(answer.status == 401 || answer.status == 403)
        #expect(try await test.ask("GET", "/_db_updates?feed=odd").status == 400)
        #expect(try await test.ask("POST", "/_db_updates", "{}").status == 405)
    }
}
