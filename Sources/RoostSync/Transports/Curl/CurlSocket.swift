#if os(Linux)
    import CRoostCurl
    import Dispatch
    import RoostWire
    import Synchronization

    /// A connection that curl makes and verifies, with TLS and through a proxy where that is called for, and that is then read and
    /// written byte by byte.
    ///
    /// A thread of its own works on it: curl's loop of exchanges knows no such connections. Tasks wait for it without their threads.
    final class CurlSocket: Sendable {
        private struct State {
            var isConnected = false
            var outgoing: [UInt8] = []
            var incoming: [UInt8] = []
            /// What ended the connection; `nil` while it is open.
            var ending: TransportError?
            /// Whether the server has closed the connection in order.
            var peerHasEnded = false
            /// When the connection is cut, once nothing more is to be sent: in nanoseconds of ``now``.
            var finishTime: UInt64?
            /// Whether the thread is done with the connection.
            var isClosed = false
            /// All tasks that wait for a change. Each checks its condition again.
            var waiters: [CheckedContinuation<Void, Never>] = []
            /// When bytes came last.
            var lastActivity = CurlSocket.now
        }

        /// How many bytes wait in either direction.
        private static let capacity = 256 << 10
        /// What is sent at a time: curl must get the same bytes again when it could not take them.
        private static let pieceSize = 16 << 10
        private static let closeSeconds: UInt64 = 2

        private let host: String
        private let multi = CurlMulti(connections: 1)
        private let state = Mutex(State())

        private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

        /// Begins to connect.
        ///
        /// - Parameter url: `http://…` or `https://…`.
        init(_ url: String, host: String, _ options: HTTPOptions) {
            self.host = host
            DispatchQueue(label: "roost.socket").async { self.run(url, options) }
        }

        // MARK: The tasks' side

        /// Waits until the connection is there.
        ///
        /// - Throws: What it failed with; `CancellationError`.
        func connected() async throws {
            try await waitUnlessCancelled { $0.isConnected || $0.ending != nil }
            if let error = state.withLock(\.ending) { throw error }
        }

        /// The next bytes; `nil` when the server has closed the connection.
        ///
        /// - Throws: What broke the connection; `CancellationError`.
        func read() async throws -> [UInt8]? {
            try await waitUnlessCancelled { !$0.incoming.isEmpty || $0.ending != nil }
            let bytes = try state.withLock { state -> [UInt8]? in
                guard state.incoming.isEmpty else {
                    defer { state.incoming = [] }
                    return state.incoming
                }
                if !state.peerHasEnded, let error = state.ending { throw error }
                return nil
            }
            multi.wake()
            return bytes
        }

        /// Sends bytes, as a whole behind others, once there is room for them.
        ///
        /// - Throws: What ended the connection.
        func write(_ bytes: [UInt8]) async throws {
            while try !writeIfRoom(bytes) {
                await wait { $0.outgoing.count < Self.capacity || $0.ending != nil }
            }
        }

        /// Sends bytes if there is room for them; answers whether there is.
        ///
        /// - Throws: What ended the connection.
        @discardableResult func writeIfRoom(_ bytes: [UInt8]) throws -> Bool {
            let hasRoom = try state.withLock { state in
                if let error = state.ending { throw error }
                guard state.outgoing.count < Self.capacity else { return false }
                state.outgoing += bytes
                return true
            }
            if hasRoom { multi.wake() }
            return hasRoom
        }

        /// How many seconds nothing has come from the server.
        var silence: Double {
            let last = state.withLock(\.lastActivity)
            return Double(Self.now - min(Self.now, last)) / 1_000_000_000
        }

        /// Breaks the connection.
        func fail(_ error: TransportError) {
            change { $0.ending = $0.ending ?? error }
            multi.wake()
        }

        /// Sends pending bytes, and closes the connection once the server has, too, or after some seconds.
        func close() async {
            state.withLock { $0.finishTime = $0.finishTime ?? Self.now + Self.closeSeconds * 1_000_000_000 }
            multi.wake()
            await wait { $0.isClosed }
        }

        private func waitUnlessCancelled(
            until isReady: @escaping @Sendable (borrowing State) -> Bool
        ) async throws {
            try Task.checkCancellation()
            await withTaskCancellationHandler {
                await wait(until: isReady)
            } onCancel: {
                fail(TransportError(.interrupted, "\(host): the connection was given up."))
            }
            try Task.checkCancellation()
        }

        private func wait(until isReady: @escaping @Sendable (borrowing State) -> Bool) async {
            while !state.withLock({ isReady($0) }) {
                await withCheckedContinuation { continuation in
                    let mustWait = state.withLock { state in
                        guard !isReady(state) else { return false }
                        state.waiters.append(continuation)
                        return true
                    }
                    if !mustWait { continuation.resume() }
                }
            }
        }

        private func change(_ change: (inout State) -> Void) {
            let waiters = state.withLock { state in
                change(&state)
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        // MARK: The thread's side

        private func run(_ url: String, _ options: HTTPOptions) {
            let connection = CurlConnection(url, host: host, options)
            connection.set(CURLOPT_CONNECT_ONLY, 1)
            // A proxy passes on what it does not understand.
            connection.set(CURLOPT_HTTPPROXYTUNNEL, 1)
            let code = unsafe curl_easy_perform(connection.easy)
            let socket = unsafe roost_curl_socket(connection.easy)
            if code == CURLE_OK, socket >= 0 {
                change { $0.isConnected = true }
                pump(connection, socket)
            } else {
                fail(connection.error(code))
            }
            connection.end()
            change { state in
                state.ending =
                    state.ending ?? TransportError(.interrupted, "\(host): the connection was closed.")
                state.isClosed = true
            }
        }

        /// Carries bytes until the connection ends.
        private func pump(_ connection: CurlConnection, _ socket: curl_socket_t) {
            let out = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
            defer {
                unsafe out.deallocate()
                unsafe room.deallocate()
            }
            // Of `out`, the bytes that are sent, and all that are to be.
            var (sent, count) = (0, 0)
            while true {
                if sent == count {
                    (sent, count) = (0, unsafe takeOutgoing(out))
                }
                var isBlocked = false
                while sent < count, !isBlocked {
                    var written = 0
                    let code = unsafe curl_easy_send(
                        connection.easy, out.baseAddress?.advanced(by: sent), count - sent, &written)
                    guard code == CURLE_OK || code == CURLE_AGAIN else { return fail(connection.error(code)) }
                    sent += written
                    isBlocked = code == CURLE_AGAIN
                }
                let (mayRead, finishTime, hasEnded, hasMore) = state.withLock { state in
                    let mayRead = state.incoming.count < Self.capacity || state.finishTime != nil
                    return (mayRead, state.finishTime, state.ending != nil, !state.outgoing.isEmpty)
                }
                guard !hasEnded else { return }
                var received = 0
                if mayRead {
                    let code = unsafe curl_easy_recv(connection.easy, room.baseAddress, room.count, &received)
                    guard code == CURLE_OK || code == CURLE_AGAIN else { return fail(connection.error(code)) }
                    if code == CURLE_OK, received == 0 {
                        return change { state in
                            state.peerHasEnded = true
                            state.ending = TransportError(.interrupted, "\(host) closed the connection.")
                        }
                    }
                    unsafe take(UnsafeRawBufferPointer(rebasing: room[..<received]))
                }
                guard received == 0, sent < count || !hasMore else { continue }
                var milliseconds: Int32 = 60_000
                if let finishTime {
                    guard finishTime > Self.now else { return }
                    milliseconds = Int32((finishTime - Self.now) / 1_000_000 + 1)
                }
                if mayRead || isBlocked {
                    multi.wait(for: socket, toRead: mayRead, toWrite: isBlocked, milliseconds: milliseconds)
                } else {
                    multi.wait(milliseconds: milliseconds)
                }
            }
        }

        /// Moves what is to be sent next; answers how many bytes.
        private func takeOutgoing(_ target: UnsafeMutableRawBufferPointer) -> Int {
            var count = 0
            change { state in
                count = min(target.count, state.outgoing.count)
                guard count > 0 else { return }
                unsafe state.outgoing[..<count].withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                state.outgoing.removeFirst(count)
            }
            return count
        }

        private func take(_ bytes: UnsafeRawBufferPointer) {
            guard unsafe !bytes.isEmpty else { return }
            change { state in
                state.lastActivity = Self.now
                // What comes while it closes is of no interest.
                if state.finishTime == nil { unsafe state.incoming.append(contentsOf: bytes) }
            }
        }
    }
#endif
