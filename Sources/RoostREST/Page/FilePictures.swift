import Roost
import RoostWire
import Synchronization

/// The pictures of databases' files at `/_utils/file/NAME`, which a hook draws: one at a time, each within bounds of time and size.
final class FilePictures: Sendable {
    private static let seconds = 20
    private static let longest = 8 << 20

    private let isDrawing = Mutex(false)

    func respond(_ context: RequestContext) async throws -> HTTPResponse {
        try context.allow("GET")
        try Security.requireServerAdmin(context.user)
        guard let draw = context.router.hooks.filePicture else { throw HTTPFailure.missing }
        let name = context.path[2]
        guard let database = try context.router.databases.database(name) else { throw HTTPFailure.noDatabase }
        guard isDrawing.withLock({ $0.testAndSet() }) else {
            throw HTTPFailure(
                503, "service unavailable", "Another file is being drawn. Ask again in some seconds.",
                headers: ["Retry-After": "5"])
        }
        defer { isDrawing.withLock { $0 = false } }
        let end = ContinuousClock.now + .seconds(Self.seconds)
        do {
            let html = Array(try draw(name, database) { !Task.isCancelled && .now < end }.utf8)
            guard html.count <= Self.longest else { throw Self.tooLarge }
            return HTTPResponse(200, headers: Self.headers, body: .bytes(html))
        } catch let error as DatabaseError where error.code == .cancelled && .now >= end {
            throw Self.tooLarge
        }
    }

    private static let tooLarge = HTTPFailure(
        413, "too_large", "The file is too large to be drawn here. `roost inspect --html FILE` draws it.")

    /// Its script has no place to speak from or to: names within the file can't do what the page's reader may.
    private static let headers: HTTPHeaders = [
        "Content-Type": "text/html; charset=utf-8", "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Content-Security-Policy":
            "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            + "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    ]
}

extension Bool {
    /// Sets it; answers whether it was not set before.
    fileprivate mutating func testAndSet() -> Bool {
        defer { self = true }
        return !self
    }
}
