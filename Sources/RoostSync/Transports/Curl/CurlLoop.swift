#if os(Linux)
    import CRoostCurl
    import Dispatch
    import Synchronization

    /// Carries out exchanges with curl's multi interface, all on one thread, which is there only while there are any.
    final class CurlLoop: Sendable {
        private struct State {
            /// Exchanges to be begun, gone on with or ended.
            var pending: [CurlExchange] = []
            var isRunning = false
        }

        private let multi: CurlMulti
        private let queue = DispatchQueue(label: "roost.http")
        private let state = Mutex(State())

        init(connections: Int) { multi = CurlMulti(connections: connections) }

        /// Begins the exchange, or goes on with it after its state has changed.
        func look(at exchange: CurlExchange) {
            let isRunning = state.withLock { state in
                state.pending.append(exchange)
                defer { state.isRunning = true }
                return state.isRunning
            }
            if isRunning { multi.wake() } else { queue.async { self.run() } }
        }

        private func run() {
            var running: [CurlHandle] = []
            while true {
                let pending = state.withLock { state -> [CurlExchange]? in
                    guard !running.isEmpty || !state.pending.isEmpty else {
                        state.isRunning = false
                        return nil
                    }
                    defer { state.pending = [] }
                    return state.pending
                }
                guard let pending else { return }
                for exchange in pending { update(exchange, &running) }
                multi.perform()
                while let (easy, code) = unsafe multi.nextEnded() {
                    guard let index = running.firstIndex(where: { unsafe $0.easy == easy }) else { continue }
                    let handle = running.remove(at: index)
                    multi.remove(handle)
                    handle.exchange.end(code == CURLE_OK ? nil : handle.error(code))
                }
                guard !running.isEmpty else { continue }
                multi.wait(milliseconds: expire(&running))
            }
        }

        private func update(_ exchange: CurlExchange, _ running: inout [CurlHandle]) {
            let index = running.firstIndex { $0.exchange === exchange }
            if exchange.hasEnded {
                if let index { multi.remove(running.remove(at: index)) }
            } else if let index {
                if let pauses = exchange.newPauses() { unsafe curl_easy_pause(running[index].easy, pauses) }
            } else {
                let handle = CurlHandle(exchange)
                multi.add(handle)
                running.append(handle)
            }
        }

        /// Ends what has taken too long; answers how long to wait for the next.
        private func expire(_ running: inout [CurlHandle]) -> Int32 {
            let now = CurlExchange.now
            var next = UInt64.max
            for handle in running {
                let deadline = handle.exchange.deadline
                guard deadline <= now else {
                    next = min(next, deadline)
                    continue
                }
                handle.exchange.fail(
                    TransportError(.timedOut, "\(handle.exchange.host) took too long to answer."))
            }
            // A second more than needed does not matter, and neither does waking up for nothing each minute.
            return Int32(min((next - now) / 1_000_000 + 1, 60_000))
        }
    }

    /// curl's multi handle. Unchecked: all but ``wake()``, which curl allows from any thread, is called by one loop.
    @safe final class CurlMulti: @unchecked Sendable {
        /// Whether curl as a whole can be used.
        static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

        private let multi: UnsafeMutableRawPointer

        init(connections: Int) {
            guard Self.isReady, let multi = unsafe curl_multi_init() else { fatalError("curl has no memory") }
            unsafe self.multi = multi
            unsafe roost_curl_multi_set_number(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
        }

        deinit { unsafe curl_multi_cleanup(multi) }

        func wake() { unsafe curl_multi_wakeup(multi) }

        func add(_ handle: CurlHandle) { unsafe curl_multi_add_handle(multi, handle.easy) }

        func remove(_ handle: CurlHandle) { unsafe curl_multi_remove_handle(multi, handle.easy) }

        func perform() {
            var count: Int32 = 0
            unsafe curl_multi_perform(multi, &count)
        }

        /// A transfer that has ended, and how.
        func nextEnded() -> (UnsafeMutableRawPointer, CURLcode)? {
            var code = CURLE_OK
            return unsafe roost_curl_multi_ended(multi, &code).map { unsafe ($0, code) }
        }

        func wait(milliseconds: Int32) { unsafe curl_multi_poll(multi, nil, 0, milliseconds, nil) }

        /// Waits for a socket that a program uses by itself.
        func wait(for socket: curl_socket_t, toRead: Bool, toWrite: Bool, milliseconds: Int32) {
            var events: Int32 = 0
            if toRead { events |= CURL_WAIT_POLLIN }
            if toWrite { events |= CURL_WAIT_POLLOUT }
            var watched = curl_waitfd(fd: socket, events: Int16(events), revents: 0)
            unsafe curl_multi_poll(multi, &watched, 1, milliseconds, nil)
        }
    }
#endif
