import Foundation
import Roost
import RoostQuery
import Testing

@testable import RoostREST

/// Replications that the server runs from a database of its own, and that choose documents by what `_changes` has.
@Suite struct ReplicationFilterTests {
    private static func router() async throws -> TestRouter {
        let test = try TestRouter { _, hooks in
            hooks.filters["app/large"] = { document, parameter, _ in
                (document.properties["n"].int ?? 0) >= Int(parameter("least") ?? "") ?? 0
            }
            hooks.languages = [Words()]
        }
        for name in ["source", "target"] { try await test.ask("PUT", "/\(name)") }
        for number in 0..<5 { try await test.put("/source/d\(number)", #"{"n":\#(number)}"#) }
        return test
    }

    /// A language of filters that are the text to be found in a document.
    private struct Words: DesignLanguage {
        let name = "words"
        var viewCompiler: any ViewCompiler { NoViews() }

        private struct NoViews: ViewCompiler {
            let language = "words"

            func compile(_ source: ViewSource) throws -> CompiledView {
                CompiledView(reduction: nil) { documents in documents.map { _ in [] } }
            }
        }

        func validate(
            _ question: ValidationQuestion, of design: Document, in collection: DocumentCollection
        ) throws -> ValidationFailure? { nil }

        func filter(
            _ name: String, of design: Document, in collection: DocumentCollection, _ documents: [[UInt8]],
            request: [UInt8]
        ) throws -> [Bool] {
            let word = design["filters"][name].string ?? ""
            return documents.map { String(decoding: $0, as: UTF8.self).contains(word) }
        }
    }

    private static func ids(_ test: TestRouter) async throws -> [String] {
        let rows = try await test.ask("GET", "/target/_all_docs")["rows"] as? [[String: Any]]
        return try #require(rows).compactMap { $0["id"] as? String }
    }

    private static func replicate(_ test: TestRouter, _ members: String) async throws -> TestRouter.Answer {
        try await test.ask("POST", "/_replicate", #"{"source":"source","target":"target",\#(members)}"#)
    }

    @Test(arguments: [
        (#""selector":{"n":{"$gt":2}}"#, ["d3", "d4"]),
        (#""filter":"app/large","query_params":{"least":"4"}"#, ["d4"]),
        (#""selector":{"_deleted":{"$exists":false},"n":1}"#, ["d1"]),
    ])
    func documentsAreChosen(members: String, expected: [String]) async throws {
        let test = try await Self.router()
        let answer = try await Self.replicate(test, members)
        #expect(answer.status == 200 && answer["ok"] as? Bool == true, "\(answer.text)")
        #expect(try await Self.ids(test) == expected)
        #expect(try await Self.replicate(test, members)["no_changes"] as? Bool == true)
    }

    /// Another text of a function begins again: what it kept back may be wanted now.
    @Test func aFunctionThatChangesBeginsAgain() async throws {
        let test = try await Self.router()
        let revision = try await test.put(
            "/source/_design/x", #"{"language":"words","filters":{"f":"\"n\":2"}}"#)
        _ = try await Self.replicate(test, #""filter":"x/f""#)
        #expect(try await Self.ids(test) == ["d2"])
        #expect(try await Self.replicate(test, #""filter":"x/f""#)["no_changes"] as? Bool == true)
        try await test.put(
            "/source/_design/x", #"{"_rev":"\#(revision)","language":"words","filters":{"f":"\"n\":"}}"#)
        _ = try await Self.replicate(test, #""filter":"x/f""#)
        #expect(try await Self.ids(test).filter { $0.hasPrefix("d") } == ["d0", "d1", "d2", "d3", "d4"])
    }

    @Test(arguments: [#""filter":"x/none""#, #""filter":"none""#, #""selector":{"n":{"$none":1}}"#])
    func whatIsNotThereIsAnError(members: String) async throws {
        let test = try await Self.router()
        let answer = try await Self.replicate(test, members)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(try await Self.ids(test).isEmpty)
    }

    /// Names of parameters that are the same text in other bytes.
    @Test func parametersWithEquivalentNames() async throws {
        let test = try await Self.router()
        let answer = try await Self.replicate(
            test, #""filter":"app/large","query_params":{"\u00e9":"1","e\u0301":"2","least":"4"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await Self.ids(test) == ["d4"])
    }
}
