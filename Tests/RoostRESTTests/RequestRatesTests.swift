import Synchronization
import Testing

@testable import RoostREST

/// Rates of requests, and what the operator learns of failures.
@Suite struct RequestRatesTests {
    private func seconds(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            let failure = error as? HTTPFailure
            #expect(failure?.status == 429)
            return failure?.headers["Retry-After"].flatMap { Int($0) }
        }
    }

    @Test func requestsFallOffWithTime() {
        let rates = RequestRates()
        let start = ContinuousClock.now
        func take(after time: Duration) -> Int? {
            seconds { try rates.take(.user("ada"), limit: 6, now: start + time) }
        }
        for _ in 0..<6 { #expect(take(after: .zero) == nil) }
        #expect(take(after: .zero) == 10)
        #expect(take(after: .seconds(4)) == 6)
        #expect(take(after: .seconds(10)) == nil)
        #expect(take(after: .seconds(10)) == 10)
        // After a long time there are as many as in the beginning, and no more.
        for _ in 0..<6 { #expect(take(after: .seconds(1000)) == nil) }
        #expect(take(after: .seconds(1000)) != nil)
    }

    @Test func sendersAreCountedApartAndNetworksTogether() {
        let rates = RequestRates()
        func take(_ sender: RequestRates.Sender) -> Bool {
            seconds { try rates.take(sender, limit: 1) } == nil
        }
        #expect(take(.user("a")) && !take(.user("a")) && take(.user("A")) && take(.address("a")))
        #expect(take(.address("192.0.2.1")) && take(.address("192.0.2.2")) && !take(.address("192.0.2.1")))
        #expect(take(.address("2001:db8::1")) && !take(.address("2001:db8::2")))
        // Canonically equivalent names are two.
        #expect(take(.user("\u{E9}")) && take(.user("e\u{301}")))
        #expect(seconds { try rates.take(.user("a"), limit: nil) } == nil)
    }

    @Test func aBoundedNumberIsRemembered() throws {
        let rates = RequestRates()
        for number in 0..<3 * RequestRates.mostSenders { try rates.take(.user("\(number)"), limit: 9) }
        #expect(rates.count <= RequestRates.mostSenders)
    }

    // MARK: Failures

    /// What the hook got.
    private final class Failures: Sendable {
        private let list = Mutex<[ServedFailure]>([])
        var all: [ServedFailure] { list.withLock { $0 } }

        func append(_ failure: ServedFailure) { list.withLock { $0.append(failure) } }
    }

    @Test func faultsOfTheServerAreReportedAndThoseOfClientsAreNot() async throws {
        let failures = Failures()
        let whole = try TestRouter { _, hooks in hooks.failures = { failures.append($0) } }
        try await whole.ask("PUT", "/db")
        try await whole.ask("PUT", "/db/a", #"{"text": "whole"}"#)
        try await whole.ask("PUT", "/db/b", #"{"text": "unmistakable"}"#)
        for (method, target) in [
            ("GET", "/none"), ("PUT", "/db/a"), ("BREW", "/db"), ("GET", "/db/_search/x"),
        ] {
            try await whole.ask(method, target, method == "PUT" ? "{}" : nil)
        }
        #expect(failures.all.isEmpty)

        let damaged = try await whole.damaged(at: "unmistakable")
        let answer = try await damaged.ask("GET", "/db/b?x=1")
        #expect(answer.status == 500)
        let failure = try #require(failures.all.first)
        #expect(failures.all.count == 1 && failure.status == 500 && failure.method == "GET")
        #expect(failure.target == "/db/b?x=1")
        #expect(failure.request != nil && failure.request == answer.headers["X-Couch-Request-ID"])
        #expect(failure.description.hasPrefix("GET /db/b?x=1 (request \(failure.request ?? "?")"))

        // An answer that breaks off has been begun with another status.
        let response = await damaged.router.respond(
            to: .get("/db/_all_docs?include_docs=true"), as: .admin)
        if case .stream(let body, _) = response.body {
            await #expect(throws: (any Error).self) { while try await body.next() != nil {} }
        }
        #expect(failures.all.count == 2 && failures.all.last?.target == "/db/_all_docs?include_docs=true")
    }
}
