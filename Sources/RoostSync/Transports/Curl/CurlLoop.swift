#if os(Linux)
    import CRoostCurl
    import Dispatch
    import RoostWire
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

    /// A transfer of curl's, on the thread of its loop. The pointers that curl gets are valid as long as this.
    @safe final class CurlHandle {
        let exchange: CurlExchange
        private let connection: CurlConnection
        private var lines: UnsafeMutablePointer<curl_slist>?

        var easy: UnsafeMutableRawPointer { unsafe connection.easy }

        init(_ exchange: CurlExchange) {
            self.exchange = exchange
            let outgoing = exchange.outgoing
            connection = CurlConnection(outgoing.url, host: exchange.host, exchange.options)
            set(CURLOPT_BUFFERSIZE, 128 << 10)
            setBody(outgoing)
            setHeaders(outgoing.headers)
            // The exchange outlives the handle, which holds it.
            unsafe roost_curl_set_callbacks(
                easy,
                { unsafe exchangeOf($3).give(UnsafeMutableRawBufferPointer(start: $0, count: $1 * $2)) },
                {
                    unsafe exchangeOf($3).takeLine(UnsafeRawBufferPointer(start: $0, count: $1 * $2))
                        ? $1 * $2 : 0
                },
                { unsafe exchangeOf($3).take(UnsafeRawBufferPointer(start: $0, count: $1 * $2)) },
                unsafe Unmanaged.passUnretained(exchange).toOpaque())
        }

        deinit {
            connection.end()
            unsafe curl_slist_free_all(lines)
        }

        /// What went wrong, in words that hold no credentials.
        func error(_ code: CURLcode) -> TransportError { connection.error(code) }

        private func set(_ option: CURLoption, _ number: Int) { connection.set(option, number) }

        private func set(_ option: CURLoption, _ text: String) { connection.set(option, text) }

        private func setBody(_ outgoing: CurlExchange.Outgoing) {
            switch outgoing.body {
            case .none:
                set(outgoing.method == "HEAD" ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1)
            case .bytes(let bytes):
                // curl keeps these, to send them again where a connection it had kept turns out to be closed.
                unsafe roost_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, bytes.count)
                unsafe bytes.withUnsafeBytes {
                    // No address would mean that a function gives the bytes.
                    guard let start = $0.baseAddress else { return set(CURLOPT_COPYPOSTFIELDS, "") }
                    unsafe roost_curl_set_pointer(
                        easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: start))
                }
            case .stream(_, _, let length):
                set(CURLOPT_UPLOAD, 1)
                unsafe roost_curl_set_size(
                    easy, CURLOPT_INFILESIZE_LARGE, length.flatMap { Int(exactly: $0) } ?? -1)
            }
            set(CURLOPT_CUSTOMREQUEST, outgoing.method)
        }

        private func setHeaders(_ headers: HTTPHeaders) {
            // Waiting for `100 Continue` costs a round trip, and a second where it does not come.
            var texts = ["Expect:"]
            if headers["Content-Type"] == nil { texts.append("Content-Type:") }
            for field in headers.fields where !HTTPHeaders.areEqual(field.name, "Content-Length") {
                texts.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
            }
            for text in texts { unsafe lines = curl_slist_append(lines, text) }
            unsafe roost_curl_set_pointer(easy, CURLOPT_HTTPHEADER, lines)
        }

    }

    private func exchangeOf(_ context: UnsafeMutableRawPointer?) -> CurlExchange {
        guard let context = unsafe context else { preconditionFailure("curl keeps what it was given") }
        return unsafe Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    }

    /// An easy handle of curl's with what every connection has in common: how the server is found, reached and verified.
    @safe final class CurlConnection {
        let easy: UnsafeMutableRawPointer
        /// The server, as messages name it.
        private let host: String
        private let message: UnsafeMutablePointer<CChar>
        private var hasEnded = false

        init(_ url: String, host: String, _ options: HTTPOptions) {
            guard CurlMulti.isReady, let easy = unsafe curl_easy_init() else {
                fatalError("curl has no memory")
            }
            unsafe self.easy = easy
            self.host = host
            unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
            unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            set(CURLOPT_URL, url)
            set(CURLOPT_PROTOCOLS_STR, "http,https")
            set(CURLOPT_PATH_AS_IS, 1)
            set(CURLOPT_NOSIGNAL, 1)
            set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            set(CURLOPT_TCP_KEEPALIVE, 1)
            unsafe roost_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, message)
            setConnection(options)
        }

        deinit {
            end()
            unsafe message.deallocate()
        }

        /// Closes the connection, or gives it back to curl.
        func end() {
            guard !hasEnded else { return }
            hasEnded = true
            unsafe curl_easy_cleanup(easy)
        }

        func set(_ option: CURLoption, _ number: Int) {
            unsafe roost_curl_set_number(easy, option, number)
        }

        func set(_ option: CURLoption, _ text: String) {
            unsafe roost_curl_set_text(easy, option, text)
        }

        private func setConnection(_ options: HTTPOptions) {
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(max(options.connectSeconds, 0.001), 1e6) * 1000))
            if let proxy = options.proxy { set(CURLOPT_PROXY, proxy) }
            if let certificates = options.certificates {
                let bytes = Array(certificates.utf8)
                unsafe bytes.withUnsafeBytes {
                    unsafe _ = roost_curl_set_blob(easy, CURLOPT_CAINFO_BLOB, $0.baseAddress, $0.count)
                }
            }
            if !options.pinnedKeys.isEmpty {
                set(
                    CURLOPT_PINNEDPUBLICKEY, options.pinnedKeys.map { "sha256//\($0)" }.joined(separator: ";")
                )
            }
        }

        /// What went wrong, in words that hold no credentials.
        func error(_ code: CURLcode) -> TransportError {
            let detail = unsafe String(cString: message)
            let text = unsafe detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
            return TransportError(Self.kind(of: code), "\(host): \(text).")
        }

        private static func kind(of code: CURLcode) -> TransportError.Code {
            switch code {
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CACERT_BADFILE,
                CURLE_SSL_ISSUER_ERROR:
                .untrusted
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
                CURLE_SEND_FAIL_REWIND:
                .interrupted
            case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING,
                CURLE_WRITE_ERROR:
                .malformed
            case CURLE_URL_MALFORMAT: .invalidAddress
            default: .unreachable
            }
        }
    }
#endif
