import Foundation
import RoostCrypto
import RoostWire

/// The page at `/_utils`: databases, documents, queries and changes, for people. One text, without other files, that asks
/// the server it came from and nobody else; it has no rights of its own.
enum AdministrationPage {
    static func respond(_ context: RequestContext) throws -> HTTPResponse {
        try context.allow("GET")
        return HTTPResponse(
            200,
            headers: [
                "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy,
                "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache",
            ], body: .bytes(context.router.hooks.filePicture == nil ? html : htmlWithPictures))
    }

    /// Only this script runs, whatever is stored in documents.
    private static let policy =
        "default-src 'none'; script-src '\(digest(script))'; style-src '\(digest(style))'; connect-src 'self'; "
        + "img-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

    private static let html = page(body: "<body>")
    /// Its script links to the pictures of the databases' files.
    private static let htmlWithPictures = page(body: "<body data-pictures>")

    private static func page(body: String) -> [UInt8] {
        Array(
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Roost</title>
            <style>\(style)</style>
            </head>
            \(body)
            <a class="skip" href="#main">Skip to the content</a>
            <header><a class="brand" href="#/">Roost</a><nav id="path" aria-label="Where you are"></nav>
            <nav id="parts" aria-label="Server"><a href="#/replications">Replications</a>
            <a href="#/accounts" id="accounts" hidden>Accounts</a></nav><span id="user"></span></header>
            <main id="main" tabindex="-1"><p>Loading…</p></main>
            <div id="notice" role="status" aria-live="polite"></div>
            <noscript>This page needs JavaScript.</noscript>
            <script>\(script)</script>
            </body>
            </html>

            """.utf8)
    }

    private static func digest(_ text: String) -> String {
        "sha256-" + Data(SHA256.hash(Array(text.utf8)).bytes).base64EncodedString()
    }
}
