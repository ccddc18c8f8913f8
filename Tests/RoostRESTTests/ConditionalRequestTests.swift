import Fleece
import Roost
import RoostQuery
import RoostREST
import RoostWire
import Synchronization
import Testing

/// Conditions and ranges of requests (RFC 9110), as one table of cases, and the tags that they are about.
@Suite struct ConditionalRequestTests {
    /// Of the content `hello world`, where TAG stands for its tag.
    @Test(
        arguments: [
            ([:], 200, nil), (["If-None-Match": "TAG"], 304, nil), (["If-None-Match": "W/TAG"], 304, nil),
            (["If-None-Match": "*"], 304, nil), (["If-None-Match": #""x""#], 200, nil),
            (["If-Match": "TAG"], 200, nil), (["If-Match": "*"], 200, nil), (["If-Match": "W/TAG"], 412, nil),
            (["If-Match": #""x""#], 412, nil), (["If-Match": #""x""#, "Range": "bytes=0-1"], 412, nil),
            (["Range": "bytes=0-4"], 206, "bytes 0-4/11"), (["Range": "bytes=-5"], 206, "bytes 6-10/11"),
            (["Range": "bytes=6-"], 206, "bytes 6-10/11"), (["Range": "bytes=0-99"], 206, "bytes 0-10/11"),
            (["Range": "bytes=11-"], 416, "bytes */11"), (["Range": "bytes=-0"], 416, "bytes */11"),
            (["Range": "bytes=5-2"], 200, nil), (["Range": "bytes=0-1,3-4"], 200, nil),
            (["Range": "bytes=0-1,20-"], 206, "bytes 0-1/11"),
            (["Range": "bytes=20-,30-"], 416, "bytes */11"),
            (["Range": "lines=0-1"], 200, nil),
            (["Range": "bytes=0-4", "If-Range": "TAG"], 206, "bytes 0-4/11"),
            (["Range": "bytes=0-4", "If-Range": "W/TAG"], 200, nil),
            (["Range": "bytes=0-4", "If-Range": #""x""#], 200, nil),
            (["Range": "bytes=0-4", "If-Range": "Sun, 06 Nov 1994 08:49:37 GMT"], 200, nil),
            (["Range": "bytes=11-", "If-Range": #""x""#], 200, nil),
            (["Range": "bytes=0-4", "If-None-Match": "TAG"], 304, nil),
            (["Range": "bytes=0-4", "If-Match": "TAG"], 206, "bytes 0-4/11"),
            (["If-Modified-Since": "Sun, 06 Nov 2094 08:49:37 GMT"], 200, nil),
        ] as [([String: String], Int, String?)])
    func attachmentsAreAnsweredByTheTable(fields: [String: String], status: Int, range: String?) async throws
    {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        try await test.ask("PUT", "/db/a/f", "hello world")
        let tag = try #require(try await test.ask("GET", "/db/a/f").headers["ETag"])
        var headers = HTTPHeaders()
        for (name, value) in fields { headers[name] = value.replacing("TAG", with: tag) }
        let answer = try await test.ask("GET", "/db/a/f", headers: headers)
        #expect((answer.status, answer.headers["Content-Range"]) == (status, range), "\(fields)")
        switch status {
        case 200: #expect(answer.text == "hello world" && answer.headers["ETag"] == tag)
        case 206:
            let bounds = try #require(range?.dropFirst(6).prefix { $0 != "/" }.split(separator: "-"))
            let whole = Array("hello world")
            let part = whole[try #require(Int(bounds[0]))...(try #require(Int(bounds[1])))]
            #expect(answer.text == String(part) && answer.headers["ETag"] == tag)
        case 304: #expect(answer.text.isEmpty && answer.headers["ETag"] == tag)
        default: #expect(answer["error"] != nil)
        }
        // A HEAD is answered as a GET that asks for no part.
        let head = try await test.ask("HEAD", "/db/a/f", headers: headers)
        #expect(
            head.status == ([206, 416].contains(status) ? 200 : status) && head.text.isEmpty, "\(fields)")
    }

    /// Clients of CouchDB, which does not look at it there, send the document's revision with a GET of an attachment.
    @Test func theRevisionOfTheDocumentIsACondition() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let stored = try await test.ask("PUT", "/db/a/f", "content")
        let revision = try #require(stored["rev"] as? String)
        for value in [revision, "\"\(revision)\""] {
            #expect(try await test.ask("GET", "/db/a/f", headers: ["If-Match": value]).text == "content")
        }
        #expect(try await test.ask("GET", "/db/a/f", headers: ["If-Match": "1-abc"]).status == 412)
    }

    /// What is read by its tag is not sent again, and has another tag after a change.
    @Test(arguments: [
        "/db/a", "/db/a?rev=REV", "/db/_local/l", "/db/_all_docs", "/db/_all_docs?include_docs=true&limit=1",
        "/db/_design_docs", "/db/_design/v/_view/n", "/db/_design/v/_view/n?reduce=false", "/db/_changes",
        "/_all_dbs",
    ])
    func whatTheClientHasIsNotSent(target: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let revision = try await test.put("/db/a", #"{"n":1}"#)
        try await test.put("/db/_local/l", "{}")
        try await test.put(
            "/db/_design/v",
            #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":[".n"]}]},"reduce":"_count"}}}"#)
        let target = target.replacing("REV", with: revision)
        let first = try await test.ask("GET", target)
        let tag = try #require(first.headers["ETag"], "\(first.text)")
        let again = try await test.ask("GET", target, headers: ["If-None-Match": tag])
        #expect((again.status, again.text, again.headers["ETag"]) == (304, "", tag))
        #expect(try await test.ask("GET", target, headers: ["If-Match": "\"other\""]).status == 412)
        guard !target.contains("rev=") else { return }
        try await test.put("/db/a?rev=\(revision)", #"{"n":2}"#)
        try await test.put("/db/_local/l", #"{"_rev":"0-1"}"#)
        try await test.ask("PUT", "/other")
        let changed = try await test.ask("GET", target, headers: ["If-None-Match": tag])
        #expect(changed.status == 200 && changed.headers["ETag"] != tag, "\(target)")
    }

    /// A purge is no change, and what was purged must not be kept by caches.
    @Test(arguments: ["_all_docs", "_all_docs?include_docs=true", "_changes", "_design/v/_view/n"])
    func aPurgeMakesAnotherVersion(target: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        try await test.put(
            "/db/_design/v", #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":[".n"]}]}}}}"#)
        let revision = try await test.put("/db/gone", #"{"n":1}"#)
        let first = try await test.ask("GET", "/db/\(target)")
        let tag = try #require(first.headers["ETag"])
        #expect(first.text.contains("gone"))
        #expect(
            try await test.ask("GET", "/db/\(target)", headers: ["If-None-Match": tag]).status == 304)
        #expect(try await test.ask("POST", "/db/_purge", #"{"gone":["\#(revision)"]}"#).status == 201)
        let second = try await test.ask("GET", "/db/\(target)", headers: ["If-None-Match": tag])
        #expect(second.status == 200 && !second.text.contains("gone"))
    }

    /// Saves a document when it is first asked to.
    private final class LateWriter: Sendable {
        private let hasWritten = Mutex(false)

        func write(_ collection: DocumentCollection) throws {
            let isFirst = hasWritten.withLock { hasWritten in
                defer { hasWritten = true }
                return !hasWritten
            }
            guard isFirst else { return }
            try collection.database.write { batch in
                let revision = try RevisionID(validating: "1-ab")
                _ = try batch.insert(json: #"{"n":2}"#, id: "later", history: [revision], in: collection)
            }
        }
    }

    /// A language whose maps have a document saved while they run.
    private struct Writing: DesignLanguage, ViewCompiler {
        let name = "writing"
        let writer: LateWriter
        var language: String { name }
        var viewCompiler: any ViewCompiler { self }

        func compile(_ source: ViewSource) throws -> CompiledView {
            let key = try FleeceDocument(json: "1").root
            return CompiledView(reduction: nil) { [writer, collection = source.collection] documents in
                try writer.write(collection)
                return documents.map { _ in [(key, key)] }
            }
        }

        func validate(
            _ question: ValidationQuestion, of design: Document, in collection: DocumentCollection
        ) throws -> ValidationFailure? { nil }

        func filter(
            _ name: String, of design: Document, in collection: DocumentCollection, _ documents: [[UInt8]],
            request: [UInt8]
        ) throws -> [Bool] {
            try writer.write(collection)
            return documents.map { _ in true }
        }
    }

    /// The tag is of the snapshot that the answer shows, also where a commit comes before the first row is read: else a client would keep
    /// an answer that lacks it.
    @Test(arguments: ["_design/w/_view/n", "_changes?filter=w/f"])
    func theTagIsOfWhatIsShown(target: String) async throws {
        let test = try TestRouter { _, hooks in hooks.languages = [Writing(writer: LateWriter())] }
        try await test.ask("PUT", "/db")
        try await test.put("/db/first", #"{"n":1}"#)
        try await test.put(
            "/db/_design/w", #"{"language":"writing","views":{"n":{"map":"x"}},"filters":{"f":"x"}}"#)
        let answer = try await test.ask("GET", "/db/\(target)")
        #expect(
            answer.status == 200 && answer.text.contains("\"first\"") && !answer.text.contains("later"),
            "\(answer.text)")
        let tag = try #require(answer.headers["ETag"])
        let again = try await test.ask("GET", "/db/\(target)", headers: ["If-None-Match": tag])
        #expect(again.status == 200 && again.text.contains("later"), "\(again.text)")
    }

    /// What does not follow from the present documents alone has none.
    @Test func someAnswersHaveNoTag() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        try await test.put(
            "/db/_design/v", #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":[".n"]}]}}}}"#)
        for target in [
            "/db/_design/v/_view/n?stale=ok", "/db/_design/v/_view/n?update=false", "/db/_local_docs",
        ] {
            #expect(try await test.ask("GET", target).headers["ETag"] == nil, "\(target)")
        }
        let posted = try await test.ask("POST", "/db/_all_docs", "{}", headers: ["If-None-Match": "*"])
        #expect(posted.status == 200 && posted.headers["ETag"] == nil)
    }

    /// Several slashes are one, as in CouchDB.
    @Test(arguments: ["//db/a", "/db//a", "///db///a/", "/db/a//"])
    func severalSlashesAreOne(target: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "//db")
        try await test.put("/db/a", #"{"n":1}"#)
        #expect(try await test.ask("GET", target)["n"] as? Int == 1)
        #expect(try await test.ask("GET", "//")["couchdb"] as? String == "Welcome")
    }

    /// An attachment of a revision that there is not.
    @Test(arguments: ["PUT", "DELETE"])
    func attachmentsOfUnknownRevisionsAreToldInCouchDBsWords(method: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let revision = try await test.put("/db/a", "{}")
        let answer = try await test.ask(method, "/db/a/f?rev=1-abc", method == "PUT" ? "x" : nil)
        #expect((answer.status, answer["error"] as? String) == (409, "not_found"), "\(answer.text)")
        #expect(answer["reason"] as? String == "missing_rev")
        try await test.put("/db/a?rev=\(revision)", #"{"n":2}"#)
        let old = try await test.ask("PUT", "/db/a/f?rev=\(revision)", "x")
        #expect((old.status, old["error"] as? String) == (409, "conflict"), "\(old.text)")
    }
}
