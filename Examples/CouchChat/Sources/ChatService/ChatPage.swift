import Foundation
import RoostWire

/// The chat as a page for browsers. It has no rights of its own: it asks the server it came from as whoever has logged in.
enum ChatPage {
    private static let html = String(decoding: PackageResources.page_html, as: UTF8.self)

    /// Whether somebody asks for the page rather than for CouchDB's greeting, which has the same address.
    static func isWanted(by request: HTTPRequest) -> Bool {
        request.method == "GET" && request.target == "/"
            && request.headers["Accept"]?.contains("text/html") == true
    }

    /// The page. Only its own script and style count, whatever others wrote: they carry a number that nobody can guess.
    static func response() -> HTTPResponse {
        let number = UUID().uuidString
        let policy =
            "default-src 'none'; script-src 'nonce-\(number)'; style-src 'nonce-\(number)'; connect-src 'self'; "
            + "img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
        return HTTPResponse(
            200,
            headers: [
                "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy,
                "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
                "Cache-Control": "no-store", "Vary": "Accept",
            ],
            body: .bytes(Array(html.replacingOccurrences(of: "NONCE", with: number).utf8)))
    }
}
