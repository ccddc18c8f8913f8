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
    }
}
