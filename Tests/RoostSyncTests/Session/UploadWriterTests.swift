#if !os(Linux) || ROOST_URLSESSION
    import Foundation
    import RoostWire
    import Testing

    @testable import RoostSync

    /// Bodies that go into a stream of the session's as it has room.
    @Suite(.timeLimit(.minutes(1))) struct UploadWriterTests {
        private let queue = DispatchQueue(label: "roost.test.upload")
        private let output = NarrowStream(toMemory: ())
        private let writer: UploadWriter

        init() { writer = UploadWriter(into: output, on: queue) }

        /// Room for so many bytes, told as a stream tells it.
        private func makeRoom(_ count: Int) {
            queue.sync {
                output.room = count
                writer.stream(output, handle: .hasSpaceAvailable)
            }
        }

        @Test func aPieceIsTakenAsThereIsRoom() async throws {
            let writer = writer
            let piece = (0..<100).map { UInt8($0) }
            async let isTaken = writer.write(piece)
            var written = 0
            while written < 100 {
                makeRoom(7)
                written = queue.sync { output.bytes.count }
                // The writing task may need this thread to begin.
                await Task.yield()
            }
            #expect(await isTaken)
            #expect(queue.sync { output.bytes } == piece)
            #expect(queue.sync { output.largest } <= 7)
            writer.close()
            #expect(queue.sync { output.isClosed })
            #expect(await writer.write([1]) == false)
        }

        /// An end would tell the server that the body is whole.
        @Test func aStreamThatIsStoppedIsNotClosed() async throws {
            let writer = writer
            async let isTaken = writer.write([1, 2, 3])
            writer.stop()
            #expect(await isTaken == false)
            #expect(queue.sync { output.isClosed } == false)
            makeRoom(10)
            #expect(queue.sync { output.bytes } == [])
        }

        /// A session that has to begin again gets the whole body from its beginning, and the exchange goes on.
        @Test func aBodyIsSentOnceMore() async throws {
            let request = HTTPRequest(
                "PUT", "/a",
                body: RepeatableBody {
                    GeneratedBody {
                        var pieces: [[UInt8]] = [[1, 2], [3, 4], [5, 6]]
                        return { pieces.isEmpty ? nil : pieces.removeFirst() }
                    }
                })
            let body = try await OutgoingBody(of: request)
            let exchange = SessionExchange(with: "http://a", HTTPOptions())
            // The first writer has no room, and is given up.
            exchange.send(body, by: writer)
            let again = try #require(exchange.bodyAgain())
            let second = NarrowStream(toMemory: ())
            let secondWriter = UploadWriter(into: second, on: queue)
            queue.sync { second.room = 100 }
            exchange.send(again, by: secondWriter)
            while !queue.sync(execute: { second.isClosed }) { await Task.yield() }
            #expect(queue.sync { second.bytes } == [1, 2, 3, 4, 5, 6])
            #expect(!queue.sync { output.isClosed })
            exchange.take(SessionExchange.Head(status: 201, headers: HTTPHeaders(), length: nil))
            #expect(try await exchange.head().status == 201)
            exchange.finish(nil, head: nil)
        }

        @Test func aBodyThatCantBeMadeAgainFailsTheExchange() async throws {
            let exchange = SessionExchange(with: "http://a", HTTPOptions())
            exchange.send(.stream([], then: BytesBody([1]), length: 1), by: writer)
            #expect(exchange.bodyAgain() == nil)
            let error = await #expect(throws: TransportError.self) { _ = try await exchange.head() }
            #expect(error?.code == .interrupted)
        }

        @Test func aStreamThatFailsWantsNoMore() async throws {
            queue.sync { output.fails = true }
            makeRoom(10)
            #expect(await writer.write([1, 2, 3]) == false)
        }
    }

    /// A stream with room for as much as a test says. Used on one queue.
    private final class NarrowStream: OutputStream {
        var room = 0
        var fails = false
        private(set) var bytes: [UInt8] = []
        private(set) var largest = 0
        private(set) var isClosed = false

        override var streamStatus: Status { .open }
        override var hasSpaceAvailable: Bool { room > 0 }
        override func close() { isClosed = true }

        override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
            guard !fails else { return -1 }
            let count = min(room, length)
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: buffer, count: count))
            largest = max(largest, count)
            room -= count
            return count
        }
    }
#endif
