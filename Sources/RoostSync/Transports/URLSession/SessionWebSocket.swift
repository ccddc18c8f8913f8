#if !os(Linux) || ROOST_URLSESSION
    import Foundation
    import RoostWire

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A WebSocket by URLSession, which masks, answers pings, and closes.
    actor SessionWebSocket: OpenedWebSocket {
        private let task: URLSessionWebSocketTask
        private let host: String
        private let idleSeconds: Double
        private var watch: Task<Void, Never>?

        init(_ task: URLSessionWebSocketTask, host: String, idleSeconds: Double) {
            (self.task, self.host, self.idleSeconds) = (task, host, idleSeconds)
        }

        deinit {
            watch?.cancel()
            task.cancel()
        }

        /// Connects. The answer to a ping shows that the session has.
        ///
        /// - Throws: What the session failed with; `CancellationError`.
        func open() async throws {
            task.resume()
            try await withTaskCancellationHandler {
                try await ping()
            } onCancel: {
                task.cancel()
            }
            try Task.checkCancellation()
            watch = Task { [task, weak self, idleSeconds] in
                while (try? await Task.sleep(for: .seconds(idleSeconds / 3))) != nil {
                    guard let self else { return }
                    // A ping that is not answered in time breaks the connection.
                    let timer = Task {
                        try await Task.sleep(for: .seconds(idleSeconds))
                        task.cancel()
                    }
                    defer { timer.cancel() }
                    guard (try? await self.ping()) != nil else { return }
                }
            }
        }

        private func ping() async throws {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                task.sendPing { error in
                    if let error { continuation.resume(throwing: error) } else { continuation.resume() }
                }
            }
        }

        func receive() async throws -> WebSocketMessage? {
            do {
                let message = try await withTaskCancellationHandler {
                    try await task.receive()
                } onCancel: {
                    task.cancel()
                }
                switch message {
                case .data(let data): return .binary([UInt8](data))
                case .string(let text): return .text(Array(text.utf8))
                @unknown default: throw WebSocketClose(1003, "The message is of an unknown kind.")
                }
            } catch {
                try Task.checkCancellation()
                // The session reports the server's close as a failure to receive.
                if task.closeCode.rawValue == 1000 || task.closeCode.rawValue == 1005 { return nil }
                throw reason(error)
            }
        }

        func send(_ message: WebSocketMessage) async throws {
            do {
                switch message {
                case .binary(let bytes): try await task.send(.data(Data(bytes)))
                case .text(let bytes): try await task.send(.string(String(decoding: bytes, as: UTF8.self)))
                }
            } catch { throw reason(error) }
        }

        private func reason(_ error: any Error) -> any Error {
            if let close = error as? WebSocketClose { return close }
            guard let code = UInt16(exactly: task.closeCode.rawValue), code > 0 else {
                return WebSocketClose(1006, TransportError(error, at: host).message)
            }
            return WebSocketClose(code, task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? "")
        }

        func close(_ reason: WebSocketClose) async {
            watch?.cancel()
            let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(reason.code)) ?? .normalClosure
            task.cancel(with: code, reason: Data(reason.reason.utf8))
        }
    }
#endif
