import Foundation
import RoostWire
import Testing

@testable import RoostREST

/// Content that came with a request that is refused: none of it stays, and what is on its way is bounded.
@Suite struct RefusedContentTests {
    private static func router(_ change: (inout RouterOptions) -> Void = { _ in }) async throws -> TestRouter
    {
        let test = try TestRouter { options, hooks in
            change(&options)
            hooks.validations["no"] = { document, _, _ in
                if document.properties["no"].bool == true || document.id == "no" {
                    throw ValidationFailure.forbidden("no")
                }
            }
        }
        try await test.ask("PUT", "/db")
        _ = try await test.put("/db/a", #"{"n":1}"#)
        return test
    }

    private static func contents(_ test: TestRouter) throws -> Int {
        try #require(try test.router.databases.database("db")).blobs().count
    }

    private static let parts =
        "--x\r\n\r\n{\"no\":true,\"_attachments\":{\"f\":{\"follows\":true,\"length\":2}}}\r\n--x\r\n\r\nhi\r\n--x--"
    private static let inline = #"{"no":true,"_attachments":{"f":{"data":"aGk="}}}"#

    /// Refused by a validation, by a conflict, and in each way that content comes.
    @Test(arguments: [
        ("PUT", "/db/no/f", "hi", "text/plain", 403), ("PUT", "/db/a/f", "hi", "text/plain", 409),
        ("PUT", "/db/a/f?rev=1-00", "hi", "text/plain", 409),
        ("PUT", "/db/new", parts, "multipart/related; boundary=x", 403),
        ("PUT", "/db/new", parts + "x", "multipart/related; boundary=y", 400),
        (
            "PUT", "/db/a", parts.replacing(#""no":true"#, with: #""no":1"#), "multipart/related; boundary=x",
            409
        ),
        ("PUT", "/db/new", inline, "application/json", 403),
        ("PUT", "/db/a", inline.replacing("true", with: "1"), "application/json", 409),
        ("POST", "/db/_bulk_docs", "{\"docs\":[\(inline)]}", "application/json", 201),
        (
            "POST", "/db/_bulk_docs", "{\"docs\":[{\"_id\":\"a\",\(inline.dropFirst())]}", "application/json",
            201
        ),
    ])
    func noneOfItStays(
        method: String, target: String, body: String, type: String, status: Int
    ) async throws {
        let test = try await Self.router()
        let answer = try await test.ask(method, target, body, headers: ["Content-Type": type])
        #expect(answer.status == status, "\(answer.text)")
        #expect(try Self.contents(test) == 0)
        // The same content with a document that is saved.
        #expect(
            try await test.ask("PUT", "/db/b/f", "hi", headers: ["Content-Type": "text/plain"]).status == 201)
        _ = try await test.ask(method, target, body, headers: ["Content-Type": type])
        #expect(try await test.ask("GET", "/db/b/f").text == "hi")
        #expect(test.router.uploads.held == 0)
    }

    @Test func whatIsOnItsWayIsBounded() async throws {
        let test = try await Self.router { $0.unsavedAttachments = 1 << 20 }
        let large = String(repeating: "x", count: 600_000)
        let answer = try await test.ask("PUT", "/db/b/f", large, headers: ["Content-Type": "text/plain"])
        #expect(answer.status == 413, "\(answer.text)")
        #expect(try Self.contents(test) == 0 && test.router.uploads.held == 0)
        let small = String(repeating: "x", count: 400_000)
        for number in 0..<4 {
            let answer = try await test.ask(
                "PUT", "/db/c\(number)/f", small, headers: ["Content-Type": "text/plain"])
            #expect(answer.status == 201, "\(answer.text)")
        }
        #expect(test.router.uploads.held == 0)
    }
}
