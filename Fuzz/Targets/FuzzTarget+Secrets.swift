import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization

/// Requests of one user to a server where another one keeps secrets, none of which may show in any answer.
extension FuzzTarget {
    private static let secretRequests: [[String]] = [
        [
            "GET /_all_dbs\n", "GET /db\n", "GET /db/hidden\n", "GET /db/hidden?rev=1-aa&open_revs=all\n",
            "GET /db/hidden/file\n", "GET /db/_all_docs?include_docs=true&attachments=true\n",
            "GET /db/_changes?include_docs=true&attachments=true&style=all_docs\n",
        ],
        [
            "POST /db/_find\n\n{\"selector\":{\"text\":{\"$regex\":\"^a\"}},\"sort\":[\"text\"]}",
            "POST /db/_find\n\n{\"selector\":{\"n\":{\"$gt\":0}},\"execution_stats\":true,\"bookmark\":\"1\"}",
            "POST /db/_explain\n\n{\"selector\":{\"n\":{\"$gt\":0}}}",
            "GET /db/_design/d/_view/v?reduce=false\n",
            "POST /db/_design/d/_view/v/queries\n\n{\"queries\":[{\"include_docs\":true},{\"group\":true}]}",
        ],
        [
            "POST /db/_bulk_get?revs=true\n\n{\"docs\":[{\"id\":\"hidden\"},{\"id\":\"hidden\",\"rev\":\"1-aa\"}]}",
            "POST /db/_revs_diff\n\n{\"hidden\":[\"1-aa\",\"2-bb\"]}",
            "COPY /db/hidden\nDestination: copy\n", "PUT /db/hidden\n\n{\"n\":2}",
            "POST /db/_bulk_docs\n\n{\"docs\":[{\"_id\":\"hidden\",\"_rev\":\"1-aa\"},{\"channel\":\"hidden\"}]}",
        ],
        [
            "POST /db/_query\n\n{\"statement\":\"SELECT META().id, text FROM _ ORDER BY text\"}",
            "GET /db/_security\n", "GET /db/_local_docs?include_docs=true\n", "GET /db/_user/owner\n",
            "GET /db/_design_docs?include_docs=true\n", "PUT /db/_local/l\n\n{\"a\":1}", "GET /db/_local/l\n",
        ],
        [
            "GET /_users/org.couchdb.user:owner\n", "GET /_users/_all_docs?include_docs=true\n",
            "GET /_users/_changes?include_docs=true\n",
            "COPY /_users/org.couchdb.user:owner\nDestination: x\n",
            "GET /_session\n", "POST /_session\n\n{\"name\":\"owner\",\"password\":\"x\"}",
            "PUT /_users/org.couchdb.user:mallory\n\n{\"name\":\"mallory\",\"type\":\"user\",\"roles\":[\"owners\"]}",
        ],
        [
            "GET /private\n", "GET /private/d\n", "GET /private/d/file\n", "GET /private/_all_docs\n",
            "POST /private/_find\n\n{\"selector\":{}}", "PUT /private/_security\n\n{}",
            "GET /_node/_local/_stats\n", "GET /_active_tasks\n", "GET /_utils/file/private\n",
        ],
    ]

    static let routerSecrets = FuzzTarget("router-secrets", corpus: "router", largestInput: 1024) {
        secretRequests.map { Array($0.joined(separator: "\0").utf8) }
    } run: { input in
        let place = try SecretsPlace()
        defer { place.remove() }
        for part in input.split(separator: separator, maxSplits: 11, omittingEmptySubsequences: false) {
            try place.ask(FuzzedRequest(part))
        }
    }
}

/// Databases in which a mark that no input can know stands wherever one user keeps something from the other.
private final class SecretsPlace: Sendable {
    /// A multiple of three bytes, so that its base64 is the same wherever it begins a content.
    private static let mark = "mark" + UUID().uuidString.lowercased().replacing("-", with: "")
    private static let signs = [Array(mark.utf8), Array(Data(mark.utf8).base64EncodedString().utf8)]

    private static let template = Result { () throws -> String in
        let directory = NSTemporaryDirectory() + "roost-fuzz-secrets-\(UUID().uuidString)"
        let router = makeRouter(try DatabaseDirectory(directory))
        let content = Data(mark.utf8).base64EncodedString()
        let attachments = #"{"file":{"data":"\#(content)"},"\#(mark)":{"data":""}}"#
        let text = #""text":"\#(mark)","n":1,"\#(mark)":true,"_attachments":\#(attachments)"#
        let view = #"{"language":"query","views":{"v":{"map":{"fields":{"text":"asc"}}}}}"#
        let index = #"{"index":{"fields":["text","n"]},"name":"i"}"#
        let owners = #"{"members":{"names":["\#(mark)"],"roles":["owners"]}}"#
        let requests = [
            ("PUT", "/private", ""), ("PUT", "/private/_security", owners),
            ("PUT", "/private/d", "{\(text)}"),
            ("PUT", "/private/_local/\(mark)", "{}"), ("PUT", "/private\(mark)", ""),
            ("PUT", "/db", ""), ("PUT", "/db/_security", "{}"),
            ("PUT", "/db/seen", #"{"text":"seen","n":1}"#), ("PUT", "/db/_design/d", view),
            ("PUT", "/db/hidden", #"{"channel":"hidden",\#(text)}"#),
            ("PUT", "/db/\(mark)", #"{"channel":"hidden","text":"a"}"#), ("POST", "/db/_index", index),
            (
                "PUT", "/_users/org.couchdb.user:owner",
                #"{"name":"owner","type":"user","roles":["owners","\#(mark)"],"password":"\#(mark)"}"#
            ),
            (
                "PUT", "/_users/org.couchdb.user:mallory",
                #"{"name":"mallory","type":"user","roles":[],"password":"known"}"#
            ),
        ]
        let answered = SeenStatuses()
        CallingThread.run(patience: 1, mayBeCancelled: { false }) {
            for (method, target, body) in requests {
                answered.add(target, await router.respond(to: .json(method, target, body), as: .admin).status)
            }
            // Otherwise nothing would be hidden from anybody.
            try? await router.routeChannels(of: "db")
        }
        try answered.check()
        return directory
    }

    private let directory: String
    private let router: Router

    init() throws {
        directory = NSTemporaryDirectory() + "roost-fuzz-\(UUID().uuidString)"
        try RouterPlace.copy(try Self.template.get(), to: directory)
        var databases = DatabaseDirectory.Options()
        databases.database.durability = .relaxed(interval: 60)
        databases.database.cacheSize = 1 << 20
        router = Self.makeRouter(try DatabaseDirectory(directory, options: databases))
    }

    private static func makeRouter(_ databases: DatabaseDirectory) -> Router {
        var options = RouterOptions()
        options.passwordRounds = 1
        options.longestJSON = 1 << 20
        var hooks = Hooks()
        hooks.sync = SyncFunction { document, _, sync in
            sync.channel(document.properties["channel"].string ?? "!")
        }
        return Router(databases, options: options, hooks: hooks)
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    func ask(_ fuzzed: FuzzedRequest) throws {
        let (router, request) = (router, fuzzed.request)
        let isAsListener = fuzzed.headers["Authorization"] != nil || fuzzed.headers["Cookie"] != nil
        let answer = SeenAnswer()
        CallingThread.run(patience: 0.02, mayBeCancelled: { answer.isEndless }) {
            await answer.read(
                isAsListener
                    ? router.respond(to: request)
                    : router.respond(to: request, as: UserContext(name: "mallory")))
        }
        let seen = answer.bytes
        for sign in Self.signs {
            let text = String(decoding: seen, as: UTF8.self)
            try demand(seen.firstRange(of: sign) == nil, "what another user keeps was shown: \(text)")
        }
    }
}

/// The statuses by which a server was filled.
private final class SeenStatuses: Sendable {
    private let failed = Mutex<[String]>([])

    func add(_ target: String, _ status: Int) {
        if status >= 300 { failed.withLock { $0.append("\(target): \(status)") } }
    }

    func check() throws {
        try demand(failed.withLock { $0.isEmpty }, "not filled: \(failed.withLock { $0 })")
    }
}
