import Foundation
import RoostREST
import Testing

/// The page at `/_utils`.
@Suite struct PageTests {
    /// It is there for everybody, to log in with, and whatever documents hold, no other script runs in it.
    @Test func everybodyGetsThePageAndItsScriptAlone() async throws {
        let test = try TestRouter()
        let page = try await test.ask("GET", "/_utils/", as: .anonymous)
        #expect(page.status == 200 && page.headers["Content-Type"] == "text/html; charset=utf-8")
        let policy = try #require(page.headers["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"))
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("connect-src 'self'"))
        #expect(page.text.components(separatedBy: "<script").count == 2)
        for dangerous in ["innerHTML", "outerHTML", "document.write", "insertAdjacentHTML", "src=\"http"] {
            #expect(!page.text.contains(dangerous))
        }
        #expect(try await test.ask("POST", "/_utils", "{}").status == 405)
        #expect(try await test.ask("GET", "/_all_dbs", as: .anonymous).status == 401)
        #expect(!page.text.contains("data-pictures>"))
        #expect(try await test.ask("GET", "/_utils/file/notes").status == 404)
    }

    /// The picture of a file is for administrators of the server, and what is in it can't speak for them.
    @Test func administratorsGetThePictureOfAFile() async throws {
        let test = try TestRouter { _, hooks in
            hooks.filePicture = { name, database, isWanted in
                "<p>\(name) has \(try database.defaultCollection.count), \(isWanted())"
            }
        }
        try await test.ask("PUT", "/notes")
        try await test.put("/notes/a", "{}")
        let page = try await test.ask("GET", "/_utils", as: .anonymous)
        #expect(page.text.contains("<body data-pictures>"))
        let picture = try await test.ask("GET", "/_utils/file/notes")
        #expect(picture.status == 200 && picture.text == "<p>notes has 1, true")
        #expect(picture.headers["Content-Type"] == "text/html; charset=utf-8")
        let policy = try #require(picture.headers["Content-Security-Policy"])
        #expect(policy.hasPrefix("sandbox allow-scripts; default-src 'none'; "))
        #expect(try await test.ask("GET", "/_utils/file/notes", as: .anonymous).status == 401)
        let keeper = UserContext(name: "dora", roles: ["keeper"])
        #expect(try await test.ask("GET", "/_utils/file/notes", as: keeper).status == 403)
        #expect(try await test.ask("GET", "/_utils/file/others").status == 404)
        #expect(try await test.ask("GET", "/_utils/file/Others").status == 400)
        #expect(try await test.ask("PUT", "/_utils/file/notes", "{}").status == 405)
    }

    /// Neither a file that is too large to be drawn nor several of them at a time keep the server from its work.
    @Test func picturesAreDrawnOneAtATimeAndWithinBounds() async throws {
        let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let test = try TestRouter { _, hooks in
            hooks.filePicture = { name, _, _ in
                if name == "slow" {
                    began.signal()
                    goOn.wait()
                }
                return String(repeating: "x", count: name == "large" ? 9 << 20 : 1)
            }
        }
        for name in ["slow", "large", "small"] { try await test.ask("PUT", "/\(name)") }
        let large = try await test.ask("GET", "/_utils/file/large")
        #expect(large.status == 413 && large["error"] as? String == "too_large")
        let slow = Task { try await test.ask("GET", "/_utils/file/slow") }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                began.wait()
                continuation.resume()
            }
        }
        let second = try await test.ask("GET", "/_utils/file/small")
        #expect(second.status == 503 && second.headers["Retry-After"] == "5")
        goOn.signal()
        #expect(try await slow.value.status == 200)
        #expect(try await test.ask("GET", "/_utils/file/small").status == 200)
    }
}
