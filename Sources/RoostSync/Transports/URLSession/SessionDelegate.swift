#if !os(Linux) || ROOST_URLSESSION
    import Foundation
    import RoostWire
    import Synchronization

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Passes a session's events to the exchanges of its tasks.
    ///
    /// Exchanges are not delegates of tasks themselves: Foundation on Linux does not call those.
    final class SessionDelegate: NSObject, URLSessionDataDelegate {
        private let options: HTTPOptions
        private let exchanges = Mutex<[Int: SessionExchange]>([:])
        /// Why the servers of tasks without an exchange are not trusted.
        private let objections = Mutex<[Int: TransportError]>([:])

        init(_ options: HTTPOptions) { self.options = options }

        /// Why a task's server is not trusted; forgets it.
        func takeObjection(to task: URLSessionTask) -> TransportError? {
            objections.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        }

        /// Runs a new task of the session's for an exchange.
        func run(_ task: URLSessionTask, for exchange: SessionExchange) {
            exchanges.withLock { $0[task.taskIdentifier] = exchange }
            task.resume()
        }

        private func exchange(of task: URLSessionTask) -> SessionExchange? {
            exchanges.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            if let head = SessionExchange.Head(response) { exchange(of: dataTask)?.take(head) }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            exchange(of: dataTask)?.take([UInt8](data))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
                return
            }
            exchange.finish(
                error.map { TransportError($0, at: exchange.host) },
                head: task.response.flatMap { SessionExchange.Head($0) })
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
            totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        ) {
            exchange(of: task)?.noteSending()
        }

        /// Where a redirect may lead is for the transport to say.
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        #if canImport(Darwin)
            /// The connection on which a body was being sent was closed, or the server wants credentials: the body is sent from its beginning.
            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
            ) {
                guard let exchange = exchange(of: task), let body = exchange.bodyAgain() else {
                    return completionHandler(nil)
                }
                let (input, writer) = UploadWriter.pair()
                exchange.send(body, by: writer)
                completionHandler(input)
            }

            /// Verifies a server's identity. The session calls this method because it has none of its own delegate.
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                completionHandler:
                    @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                let space = challenge.protectionSpace
                guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust,
                    let trust = space.serverTrust,
                    options.certificates != nil || !options.pinnedKeys.isEmpty
                else { return completionHandler(.performDefaultHandling, nil) }
                if let objection = options.objection(to: trust) {
                    let exchange = exchange(of: task)
                    let error = TransportError(.untrusted, "\(exchange?.host ?? space.host): \(objection).")
                    if let exchange {
                        exchange.fail(error)
                    } else {
                        objections.withLock { $0[task.taskIdentifier] = error }
                    }
                    completionHandler(.cancelAuthenticationChallenge, nil)
                } else {
                    completionHandler(.useCredential, URLCredential(trust: trust))
                }
            }
        #endif
    }

    extension SessionExchange.Head {
        /// The codings of bodies that sessions undo.
        private static let codings = ["gzip", "deflate", "br", "zstd"]

        /// - Returns: `nil` for what is no answer over HTTP.
        init?(_ response: URLResponse) {
            guard let response = response as? HTTPURLResponse else { return nil }
            var headers = HTTPHeaders()
            for case (let name as String, let value as String) in response.allHeaderFields
            where !HTTPHeaders.areEqual(name, "Set-Cookie") {
                headers.add(name, value)
            }
            // The dictionary holds all cookies in one text, in which a comma may be part of a date.
            let cookies = response.allHeaderFields.first {
                ($0.key as? String).map { HTTPHeaders.areEqual($0, "Set-Cookie") } ?? false
            }
            if let text = cookies?.value as? String, let url = response.url {
                for cookie in HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": text], for: url) {
                    headers.add("Set-Cookie", "\(cookie.name)=\(cookie.value)")
                }
            }
            if let coding = headers["Content-Encoding"], Self.codings.contains(coding.lowercased()) {
                headers["Content-Encoding"] = nil
                headers["Content-Length"] = nil
            }
            let hasBody = ![204, 304].contains(response.statusCode)
            self.init(
                status: response.statusCode, headers: headers,
                length: hasBody ? headers["Content-Length"].flatMap { UInt64($0) } : nil)
        }
    }
#endif
