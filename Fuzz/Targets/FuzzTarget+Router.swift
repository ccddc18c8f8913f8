import Fleece
import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization

/// Requests to CouchDB's API, several one after another, over databases in a directory.
extension FuzzTarget {
    static let routers = [router, routerSecrets]

    /// Between two requests of an input.
    static let separator: UInt8 = 0

    private static let requestTexts: [[String]] = [
        [
            "PUT /db/c\n\n{\"n\":1,\"_attachments\":{\"f\":{\"data\":\"aGk=\"}}}",
            "GET /db/c?revs=true&conflicts=true&local_seq=true&att_encoding_info=true\n",
            "GET /db/c/f\nRange: bytes=1-\nAccept-Encoding: gzip\n", "DELETE /db/c?rev=1-x\n",
        ],
        [
            "POST /db/_bulk_docs\n\n{\"docs\":[{\"_id\":\"x\",\"_rev\":\"1-aa\"},{}],\"new_edits\":false}",
            "POST /db/_bulk_get?revs=true\n\n{\"docs\":[{\"id\":\"a\"},{\"id\":\"x\",\"rev\":\"1-aa\"}]}",
            "POST /db/_revs_diff\n\n{\"x\":[\"1-aa\",\"2-bb\"]}", "POST /db/_purge\n\n{\"x\":[\"1-aa\"]}",
        ],
        [
            "GET /db/_changes?feed=longpoll&since=now&heartbeat=5\n",
            "GET /db/_changes?feed=eventsource&include_docs=true&style=all_docs&limit=2\n",
            "POST /db/_changes?filter=_selector&descending=true\n\n{\"selector\":{\"n\":{\"$gt\":0}}}",
        ],
        [
            "GET /db/_design/d/_view/v?startkey=[1,\"a\"]&endkey={}&group_level=1&skip=1\n",
            "POST /db/_design/d/_view/v/queries\n\n{\"queries\":[{\"keys\":[1,2]},{\"reduce\":false}]}",
            "GET /db/_all_docs?keys=[\"a\",\"none\"]&include_docs=true&conflicts=true\n",
            "GET /db/_local_docs?startkey=\"_local/a\"&inclusive_end=false\n",
        ],
        [
            "POST /db/_index\n\n{\"index\":{\"fields\":[{\"n\":\"desc\"}]},\"name\":\"i\",\"ddoc\":\"i\"}",
            "POST /db/_find\n\n{\"selector\":{\"n\":{\"$gt\":0}},\"sort\":[\"n\"],\"fields\":[\"_id\"],\"limit\":1}",
            "POST /db/_explain\n\n{\"selector\":{}}", "DELETE /db/_index/i/json/i\n",
        ],
        [
            "PUT /db/m?new_edits=false\nContent-Type: multipart/related;boundary=x\n\n--x\r\n\r\n"
                + "{\"_rev\":\"1-aa\",\"_attachments\":{\"f\":{\"follows\":true,\"length\":2}}}\r\n--x\r\n\r\nhi\r\n--x--",
            "GET /db/m?attachments=true\nAccept: multipart/related\n",
            "GET /db/m?open_revs=all&revs=true\nAccept: multipart/mixed\n",
        ],
        [
            "PUT /..%2f..%2fescape\n", "PUT /db.%2e%2e.x\n", "PUT /new/\n",
            "PUT /new/_security\n\n{\"members\":{\"roles\":[\"r\"]}}", "GET /_all_dbs?startkey=\"d\"\n",
            "PUT /_users/org.couchdb.user:u\n\n{\"name\":\"u\",\"type\":\"user\",\"roles\":[],\"password\":\"p\"}",
            "POST /_session\n\n{\"name\":\"u\",\"password\":\"p\"}", "DELETE /new\n",
        ],
        [
            "COPY /db/a\nDestination: b%20c?rev=1-aa\n", "GET /_node/_local/_stats/couchdb/httpd\n",
            "POST /db/_compact\n\n{}", "PUT /db/_revs_limit\n\n3", "GET /_utils/x\n",
            "PUT /db/_local/l\n\n{\"a\":[]}", "PUT /db/a/g?rev=1-x\nContent-Encoding: gzip\n\n\u{1f}",
        ],
    ]

    private static let router = FuzzTarget("router", largestInput: 1024) {
        requestTexts.map { Array($0.joined(separator: "\0").utf8) }
    } run: { input in
        let place = try RouterPlace()
        defer { place.remove() }
        for part in input.split(separator: separator, maxSplits: 11, omittingEmptySubsequences: false) {
            try place.ask(FuzzedRequest(part))
        }
        try place.checkSurroundings()
    }
}

/// A request as inputs write it: `METHOD TARGET`, fields, an empty line, the body.
struct FuzzedRequest {
    let method: String
    let target: String
    var headers = HTTPHeaders()
    let body: [UInt8]

    init(_ bytes: ArraySlice<UInt8>) {
        var lines: [String] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 10) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            lines.append(String(decoding: line, as: UTF8.self))
        }
        body = Array(rest)
        let first = lines.first?.split(separator: " ", maxSplits: 1) ?? []
        method = first.first.map(String.init) ?? ""
        target = first.count > 1 ? String(first[1]) : ""
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            headers.add(String(parts[0]), String(value))
        }
        if headers["Content-Type"] == nil { headers.add("Content-Type", "application/json") }
    }

    /// The body comes in small pieces.
    var request: HTTPRequest {
        var rest = body[...]
        let pieces = stride(from: 0, to: rest.count, by: 16).map { _ in
            defer { rest = rest.dropFirst(16) }
            return Array(rest.prefix(16))
        }
        return HTTPRequest(
            method, target, headers: headers,
            body: GeneratedBody {
                var index = 0
                return {
                    defer { index += 1 }
                    return index < pieces.count ? pieces[index] : nil
                }
            }, peer: "192.0.2.1")
    }
}

/// A router over databases in a directory, beside which nothing may change.
final class RouterPlace: Sendable {
    private static let sentinel = Data("as it was".utf8)

    /// Databases to begin with: made once, copied for each input.
    private static let template = Result { () throws -> String in
        let directory = NSTemporaryDirectory() + "roost-fuzz-router-\(UUID().uuidString)"
        let router = Router(try DatabaseDirectory(directory))
        let view = #"{"language":"query","views":{"v":{"map":{"fields":{"n":"asc"}}}}}"#
        let hello = #"{"n":1,"s":"x","_attachments":{"t":{"content_type":"text/plain","data":"aGVsbG8="}}}"#
        CallingThread.run(patience: 1, mayBeCancelled: { false }) {
            for (target, body) in [
                ("/db", ""), ("/db/_security", "{}"), ("/db/a", hello), ("/db/b", #"{"n":[1,"a"]}"#),
                ("/db/_design/d", view),
            ] { _ = await router.respond(to: .json("PUT", target, body), as: .admin) }
        }
        return directory
    }

    private let surroundings: String
    private let router: Router

    init() throws {
        surroundings = NSTemporaryDirectory() + "roost-fuzz-\(UUID().uuidString)"
        let files = FileManager.default
        try files.createDirectory(atPath: surroundings, withIntermediateDirectories: true)
        try Self.sentinel.write(to: URL(fileURLWithPath: surroundings + "/sentinel"))
        try Self.copy(try Self.template.get(), to: surroundings + "/databases")
        var options = RouterOptions()
        options.passwordRounds = 1
        options.longestJSON = 1 << 20
        var databases = DatabaseDirectory.Options()
        databases.database.durability = .relaxed(interval: 60)
        databases.database.cacheSize = 1 << 20
        router = Router(
            try DatabaseDirectory(surroundings + "/databases", options: databases), options: options)
    }

    /// Copies a directory. The fuzzer's timer interrupts calls, which Foundation does not repeat.
    static func copy(_ source: String, to target: String) throws {
        while true {
            do {
                return try FileManager.default.copyItem(atPath: source, toPath: target)
            } catch let error as CocoaError {
                guard (error.underlying as? POSIXError)?.code == .EINTR else { throw error }
                try FileManager.default.removeItem(atPath: target)
            }
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: surroundings) }

    func ask(_ fuzzed: FuzzedRequest) throws {
        // Replications reach out to wherever they are told to.
        let user: UserContext = fuzzed.target.lowercased().contains("rep") ? .anonymous : .admin
        let (router, request) = (router, fuzzed.request)
        let isAsListener = fuzzed.headers["Authorization"] != nil || fuzzed.headers["Cookie"] != nil
        let answer = SeenAnswer()
        CallingThread.run(patience: 0.02, mayBeCancelled: { answer.isEndless }) {
            await answer.read(
                isAsListener ? router.respond(to: request) : router.respond(to: request, as: user))
        }
        try answer.check(of: request)
    }

    /// Nothing is beside the databases that was not there.
    func checkSurroundings() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: surroundings).sorted()
        try demand(names == ["databases", "sentinel"], "a file outside of the directory: \(names)")
        let data = FileManager.default.contents(atPath: surroundings + "/sentinel")
        try demand(data == Self.sentinel, "a file outside of the directory was changed")
    }
}

/// What a client sees of an answer.
final class SeenAnswer: Sendable {
    private struct State {
        var response: HTTPResponse?
        var bytes: [UInt8] = []
        var isWhole = false
    }

    private static let mostRead = 1 << 20
    /// Feeds go on for ever: so many pieces of one are read.
    private static let mostPieces = 4

    private let state = Mutex(State())

    var isEndless: Bool { state.withLock { $0.response?.isEndless == true } }

    func read(_ response: HTTPResponse) async {
        state.withLock { $0.response = response }
        let stream: any BodyStream
        switch response.body {
        case .none: stream = BytesBody([])
        case .bytes(let bytes): stream = BytesBody(bytes)
        case .stream(let body, _): stream = body
        }
        do {
            var count = 0
            var pieces = 0
            while count < Self.mostRead, !response.isEndless || pieces < Self.mostPieces, !Task.isCancelled {
                guard let piece = try await stream.next() else {
                    state.withLock { $0.isWhole = true }
                    return
                }
                count += piece.count
                pieces += 1
                state.withLock { $0.bytes += piece }
            }
        } catch {
            // Half an answer breaks the connection, which tells the client.
        }
    }

    /// All that the client sees: the fields and the body.
    var bytes: [UInt8] {
        let seen = state.withLock { $0 }
        let fields = (seen.response?.headers.fields ?? []).map { "\($0.name): \($0.value)\n" }.joined()
        return Array(fields.utf8) + seen.bytes
    }

    func check(of request: HTTPRequest) throws {
        let seen = state.withLock { $0 }
        guard let response = seen.response else { throw FuzzFinding("no answer") }
        try demand((200...599).contains(response.status), "the status \(response.status)")
        for field in response.headers.fields {
            let isClean = "\(field.name)\(field.value)".utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
            try demand(isClean && !field.name.isEmpty, "the field \(field.name): \(field.value)")
        }
        guard seen.isWhole, request.method != "HEAD", !response.isEndless else { return }
        if case .stream(_, let length?) = response.body {
            try demand(length == UInt64(seen.bytes.count), "\(seen.bytes.count) bytes instead of \(length)")
        }
        // What was stored as an attachment is what somebody says it is.
        guard response.headers["Content-Type"] == "application/json",
            response.headers["Content-Security-Policy"] == nil, !seen.bytes.isEmpty
        else { return }
        let isJSON = (try? FleeceDocument(json: String(decoding: seen.bytes, as: UTF8.self))) != nil
        try demand(isJSON, "an answer that is no JSON: \(String(decoding: seen.bytes, as: UTF8.self))")
    }
}
