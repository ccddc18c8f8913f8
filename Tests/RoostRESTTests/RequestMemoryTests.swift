import Foundation
import RoostWire
import Testing

@testable import RoostREST

/// What requests hold in memory: bounded for each and for all together, and one user's does not take that of the others.
@Suite struct RequestMemoryTests {
    private static let anna = UserContext(name: "anna")
    private static let ben = UserContext(name: "ben")

    /// A body whose first bytes come at once, and the rest when it is let go.
    private actor HeldUpBody: BodyStream {
        private var pieces: [[UInt8]]
        private var isOpen = false
        private var waiting: CheckedContinuation<Void, Never>?
        private var arrival: CheckedContinuation<Void, Never>?
        private var hasArrived = false

        init(_ pieces: [[UInt8]]) { self.pieces = pieces.reversed() }

        func next() async -> [UInt8]? {
            if pieces.count == 1, !isOpen {
                hasArrived = true
                arrival.take()?.resume()
                await withCheckedContinuation { waiting = $0 }
            }
            return pieces.popLast()
        }

        /// Returns when all but the last piece was taken.
        func arrive() async {
            if !hasArrived { await withCheckedContinuation { arrival = $0 } }
        }

        func letGo() {
            isOpen = true
            waiting.take()?.resume()
        }
    }

    @Test func oneOwnerHasHalf() async throws {
        let budget = RequestBudget(limit: 100, of: "memory", patience: .zero)
        let (first, second) = (
            RequestMemory(budget, budget, Self.anna, peer: "1"),
            RequestMemory(budget, budget, Self.anna, peer: "2")
        )
        try await first.reserve(30)
        try await second.reserve(20)
        // More than one may have at all, and more than the others leave of it.
        #expect(await failure { try await first.reserve(21) }?.status == 413)
        let refusal = await failure { try await second.reserve(10) }
        #expect(refusal?.status == 503 && refusal?.headers["Retry-After"] != nil)
        let other = RequestMemory(budget, budget, Self.ben, peer: "1")
        try await other.reserve(50)
        let guest = RequestMemory(budget, budget, .anonymous, peer: "1")
        #expect(await failure { try await guest.reserve(1) }?.status == 503)
        first.release(5)
        try await guest.reserve(5)
        #expect(budget.held == 100)
    }

    @Test func whatIsDroppedIsReleased() async throws {
        let budget = RequestBudget(limit: 100, of: "memory")
        var memory: RequestMemory? = RequestMemory(budget, budget, Self.anna, peer: "1")
        try await memory?.reserve(40)
        try memory?.reserveAnswer(10)
        memory?.release(60)
        #expect(budget.held == 10)
        memory?.releaseAnswer()
        try await memory?.reserve(7)
        #expect(budget.held == 7)
        memory = nil
        #expect(budget.held == 0)
    }

    @Test func waitsForItsTurn() async throws {
        let budget = RequestBudget(limit: 100, of: "memory", patience: .seconds(600))
        let holder = RequestMemory(budget, budget, Self.anna, peer: "1")
        try await holder.reserve(40)
        let waiter = RequestMemory(budget, budget, Self.anna, peer: "2")
        async let granted: Void = waiter.reserve(20)
        while budget.waiting == 0 { await Task.yield() }
        #expect(budget.held == 40)
        holder.release(20)
        try await granted
        #expect(budget.held == 40 && waiter.held == 20)
        // A task that is cancelled does not wait on.
        let third = RequestMemory(budget, budget, Self.anna, peer: "3")
        let task = Task { try await third.reserve(50) }
        while budget.waiting == 0 { await Task.yield() }
        task.cancel()
        #expect(await failure { try await task.value }?.status == 503)
        #expect(budget.waiting == 0 && budget.held == 40)
    }

    private func failure(_ body: () async throws -> Void) async -> HTTPFailure? {
        do {
            try await body()
            return nil
        } catch {
            return error as? HTTPFailure
        }
    }

    // MARK: Bodies

    /// Bodies that become much more than they are, in each route that reads one.
    @Test(arguments: [
        ("_bulk_docs", #"{"docs":["#, "{},", "{}]}"), ("_find", #"{"selector":{"$or":["#, "{},", "{}]}}"),
        ("_all_docs/queries", #"{"queries":["#, "{},", "{}]}"), ("_all_docs", #"{"keys":["#, "1,", "1]}"),
        ("_bulk_get", #"{"docs":["#, "{},", "{}]}"),
        ("_changes?filter=_doc_ids", #"{"doc_ids":["#, "1,", "1]}"),
        ("_revs_diff", #"{"a":["#, "1,", "1]}"), ("_query", #"{"parameters":["#, "1,", "1]}"),
        ("_design/v/_view/n/queries", #"{"queries":["#, "{},", "{}]}"), ("_explain", #"{"x":["#, "1,", "1]}"),
    ])
    func refusesWhatGrows(route: String, start: String, unit: String, end: String) async throws {
        let test = try TestRouter { options, _ in options.requestMemory = 2 << 20 }
        try await test.ask("PUT", "/db")
        let views = #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":[".n"],"value":null}]}}}}"#
        _ = try await test.put("/db/_design/v", views)
        let body = start + String(repeating: unit, count: 150_000) + end
        for _ in 0..<3 {
            let answer = try await test.ask("POST", "/db/\(route)", body)
            #expect(answer.status == 413, "\(answer.text)")
        }
        #expect(test.router.memory.held == 0)
        #expect(try await test.ask("POST", "/db/\(route)", start + end).status < 500)
    }

    @Test func unpackedBodiesAreBounded() async throws {
        let test = try TestRouter { options, _ in options.requestMemory = 1 << 20 }
        try await test.ask("PUT", "/db")
        // A mebibyte of spaces, as gzip.
        let text =
            "H4sIAAAAAAACA+3BQREAAAwCoCr29Oy+EPsCCQ" + String(repeating: "A", count: 1352)
            + "DAT3dCBe6sAgAQAA=="
        let packed = Array(try #require(Data(base64Encoded: text)))
        let request = HTTPRequest(
            "POST", "/db", headers: ["Content-Type": "application/json", "Content-Encoding": "gzip"],
            body: BytesBody(packed))
        let answer = try await TestRouter.read(await test.router.respond(to: request, as: .admin))
        #expect(packed.count < 8_000 && answer.status == 413, "\(answer.text)")
        #expect(test.router.memory.held == 0)
    }

    /// While a user's bodies hold all that the user may have, others write, and the user's own go on afterwards.
    @Test func othersGoOn() async throws {
        let test = try TestRouter { options, _ in options.requestMemory = 4 << 20 }
        try await test.ask("PUT", "/db")
        _ = try await test.ask("PUT", "/db/_security", "{}")
        let text = "{\"a\":\"" + String(repeating: "x", count: 500_000) + "\"}"
        let body = HeldUpBody([Array(text.utf8.dropLast(2)), Array("\"}".utf8)])
        var request = HTTPRequest(
            "PUT", "/db/a", headers: ["Content-Length": "600000"], body: body)
        request.headers["Content-Type"] = "application/json"
        let slow = request
        async let first = test.router.respond(to: slow, as: Self.anna)
        await body.arrive()
        async let second = test.ask("PUT", "/db/b", text, as: Self.anna)
        while test.router.memory.waiting == 0 { await Task.yield() }
        #expect(try await test.ask("PUT", "/db/c", #"{"x":1}"#, as: Self.ben).status == 201)
        await body.letGo()
        let answers = try await (TestRouter.read(first), second)
        #expect(answers.0.status == 201 && answers.1.status == 201, "\(answers)")
        #expect(test.router.memory.held == 0)
    }

    // MARK: Answers

    @Test func answersAreCountedUntilTheyAreSent() async throws {
        let test = try TestRouter { options, _ in options.requestMemory = 8 << 20 }
        try await test.ask("PUT", "/db")
        _ = try await test.ask("PUT", "/db/_security", "{}")
        let text = "{\"a\":\"" + String(repeating: "x", count: 400_000) + "\"}"
        _ = try await test.put("/db/a", text)
        var held: [HTTPResponse] = []
        var last = 200
        while last == 200, held.count < 100 {
            let response = await test.router.respond(to: .get("/db/a"), as: Self.anna)
            last = response.status
            held.append(response)
        }
        #expect(last == 503 && held.count > 2 && held.count < 30, "\(held.count)")
        #expect(await test.router.respond(to: .get("/db/a"), as: Self.ben).status == 200)
        #expect(try await held[0].bytes().count > 400_000)
        held = []
        #expect(await test.router.respond(to: .get("/db/a"), as: Self.anna).status == 200)
        #expect(test.router.memory.held == 0)
    }
}
