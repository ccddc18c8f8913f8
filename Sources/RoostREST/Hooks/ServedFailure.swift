import RoostWire

/// A request that the server could not answer by a fault of its own: for the operator's log.
public struct ServedFailure: Sendable, CustomStringConvertible {
    /// The request's method.
    public let method: String
    /// The request's target: path and query.
    public let target: String
    /// Who sent the request, where that is known.
    public let user: String?
    /// The name of the request, which its answer has as `X-Couch-Request-ID`.
    public let request: String?
    /// The status of the answer; of an answer that broke off, what it would have been.
    public let status: Int
    /// What went wrong.
    public let reason: String

    /// One line with everything.
    public var description: String {
        let by = [request.map { "request \($0)" }, user.map { "user \($0)" }].compactMap(\.self)
        return
            "\(method) \(target)\(by.isEmpty ? "" : " (\(by.joined(separator: ", ")))"): \(status) \(reason)"
    }
}

extension ServedFailure {
    /// - Returns: `nil` for what is the client's fault, is not there by design, or passes when the client tries again.
    init?(_ error: any Error, _ request: HTTPRequest, _ user: UserContext?, _ response: HTTPResponse) {
        let failure = HTTPFailure(error)
        guard failure.status >= 500, ![501, 503].contains(failure.status) else { return nil }
        method = request.method
        target = request.target
        self.user = user?.name
        self.request = response.headers["X-Couch-Request-ID"]
        status = failure.status
        reason = failure.reason
    }
}

/// The body of an answer, of which the operator learns when it breaks off.
struct ReportedBody: BodyStream {
    let body: any BodyStream
    let report: @Sendable (any Error) -> Void

    func next() async throws -> [UInt8]? {
        do {
            return try await body.next()
        } catch {
            report(error)
            throw error
        }
    }
}
