#if !os(Linux) || ROOST_URLSESSION
    import RoostWire
    import Synchronization
    import Testing

    @testable import RoostSync

    /// What an exchange does to the session, and takes from it.
    @Suite(.timeLimit(.minutes(1))) struct SessionExchangeTests {
        private let flow = RecordingFlow()

        private func exchange(
            hasBody: Bool = true, _ change: (inout HTTPOptions) -> Void = { _ in }
        ) -> SessionExchange {
            var options = HTTPOptions()
            change(&options)
            let exchange = SessionExchange(with: "http://a", options, hasBody: hasBody)
            exchange.begin(flow)
            return exchange
        }

        private static func head(_ length: UInt64? = nil) -> SessionExchange.Head {
            SessionExchange.Head(status: 200, headers: HTTPHeaders(), length: length)
        }

        private static func rest(_ exchange: SessionExchange) async throws -> Int {
            var count = 0
            while let bytes = try await exchange.nextBytes() { count += bytes.count }
            return count
        }

        @Test func aSessionIsHeldWhileTooMuchWaits() async throws {
            let exchange = exchange()
            exchange.take(Self.head())
            _ = try await exchange.head()
            let piece = [UInt8](repeating: 7, count: SessionExchange.capacity / 2)
            exchange.take(piece)
            #expect(flow.calls == [])
            exchange.take(piece)
            #expect(flow.calls == ["hold"])
            // What was under way still comes, and is not lost.
            exchange.take(piece)
            #expect(flow.calls == ["hold"])
            _ = try await exchange.nextBytes()
            #expect(flow.calls == ["hold"])
            _ = try await exchange.nextBytes()
            #expect(flow.calls == ["hold", "go on"])
            exchange.take(piece)
            #expect(flow.calls == ["hold", "go on", "hold"])
            exchange.finish(nil, head: nil)
            #expect(try await Self.rest(exchange) == 2 * piece.count)
            #expect(!flow.calls.contains("cancel"))
        }

        @Test func aBodyThatWasCutIsNotTakenForWhole() async throws {
            let cut = exchange()
            cut.take(Self.head(10))
            cut.take([1, 2, 3])
            cut.finish(nil, head: nil)
            _ = try await cut.head()
            for _ in 0..<2 {
                let error = await #expect(throws: TransportError.self) { _ = try await Self.rest(cut) }
                #expect(error?.code == .interrupted)
            }
            let whole = exchange()
            whole.take(Self.head(3))
            whole.take([1, 2, 3])
            whole.finish(nil, head: nil)
            _ = try await whole.head()
            #expect(try await Self.rest(whole) == 3)
            let headOnly = exchange(hasBody: false)
            headOnly.take(Self.head(3))
            headOnly.finish(nil, head: nil)
            _ = try await headOnly.head()
            #expect(try await Self.rest(headOnly) == 0)
        }

        @Test func aHeadThatComesWithTheEndIsTaken() async throws {
            let late = exchange()
            late.finish(nil, head: Self.head())
            #expect(try await late.head().status == 200)
            let never = exchange()
            never.finish(nil, head: nil)
            await #expect(throws: TransportError.self) { _ = try await never.head() }
        }

        @Test func silenceEndsIt() async throws {
            let silent = exchange { $0.idleSeconds = 0.01 }
            let error = await #expect(throws: TransportError.self) { _ = try await silent.head() }
            #expect(error?.code == .timedOut)
            #expect(flow.calls == ["cancel"])
        }

        @Test func timeThatThisSideTakesIsNotTheServers() async throws {
            var options = HTTPOptions()
            options.idleSeconds = 90
            let exchange = SessionExchange(with: "http://a", options)
            let later = SuspendingClock.now.advanced(by: .seconds(1000))
            exchange.take(Self.head())
            #expect(try #require(exchange.deadline(at: later)) < later)
            exchange.take([UInt8](repeating: 7, count: SessionExchange.capacity))
            #expect(exchange.deadline(at: later) == later.advanced(by: .seconds(90)))
            _ = try await exchange.head()
            _ = try await exchange.nextBytes()
            #expect(try #require(exchange.deadline(at: later)) < later)
            // The whole time goes on in any case.
            options.requestSeconds = 100
            let bounded = SessionExchange(with: "http://a", options)
            bounded.take([UInt8](repeating: 7, count: SessionExchange.capacity))
            #expect(try #require(bounded.deadline(at: later)) < later)
            bounded.finish(nil, head: Self.head())
            #expect(bounded.deadline(at: later) == nil)
        }

        @Test func cancellingTheTaskEndsTheExchange() async throws {
            let exchange = exchange()
            let asking = Task { try await exchange.head() }
            asking.cancel()
            await #expect(throws: CancellationError.self) { _ = try await asking.value }
            await flow.untilCancelled()
        }

        @Test func lettingGoOfTheBodyEndsTheExchange() async throws {
            let exchange = exchange()
            exchange.take(Self.head())
            do {
                let body = SessionBody(exchange)
                exchange.take([1])
                #expect(try await exchange.head().status == 200)
                #expect(try await body.next() == [1])
                #expect(flow.calls == [])
            }
            #expect(flow.calls == ["cancel"])
        }
    }

    /// Notes what is done to the task of a session that is none.
    private final class RecordingFlow: SessionFlow {
        private let recorded = Mutex<[String]>([])
        private let cancelled: AsyncStream<Void>
        private let noteCancelled: AsyncStream<Void>.Continuation

        init() { (cancelled, noteCancelled) = AsyncStream.makeStream() }

        var calls: [String] { recorded.withLock { $0 } }

        func hold() { recorded.withLock { $0.append("hold") } }
        func goOn() { recorded.withLock { $0.append("go on") } }
        func cancel() {
            recorded.withLock { $0.append("cancel") }
            noteCancelled.finish()
        }

        func untilCancelled() async { for await _ in cancelled {} }
    }
#endif
