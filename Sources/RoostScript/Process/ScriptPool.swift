import Dispatch
import Fleece
import Roost
import RoostCrypto
import Synchronization

/// Where scripts are run: a few child processes, or this one.
final class ScriptPool: Sendable {
    /// A session on its way from one thread to another; only one has it at a time.
    private struct Lent: @unchecked Sendable {
        let session: ScriptSession
    }

    /// The program's path and its arguments; none where scripts are run in this process.
    private let command: [String]
    private let limits: ScriptLimits
    private let idle = Mutex<[Lent]>([])
    /// As many as may run at a time.
    private let turns: DispatchSemaphore

    init(_ command: [String], _ limits: ScriptLimits, processes: Int) {
        self.command = command
        self.limits = limits
        // In this process the limit of memory is everybody's, so scripts go one after another.
        turns = DispatchSemaphore(value: command.isEmpty ? 1 : processes)
    }

    /// Calls a function of a design document, and waits for the answer: blocks the calling thread.
    func call(_ function: ScriptFunction, _ request: [UInt8]) throws(ScriptError) -> [UInt8] {
        turns.wait()
        defer { turns.signal() }
        let lent: Lent
        if let known = idle.withLock({ $0.popLast() }) {
            lent = known
        } else {
            lent = Lent(session: ScriptSession(try peer(), limits))
        }
        defer { if lent.session.isUsable { idle.withLock { $0.append(lent) } } }
        return try lent.session.call(function, request)
    }

    private func peer() throws(ScriptError) -> any ScriptPeer {
        command.isEmpty ? LocalScripts(limits) : try ScriptProcess(command, limits)
    }
}

/// Whatever answers messages: another process, or this one.
protocol ScriptPeer: AnyObject {
    /// Whether it can be asked again.
    var isUsable: Bool { get }
    /// Sends a request and waits for the answer.
    func exchange(_ message: ScriptMessage) throws(ScriptError) -> ScriptMessage
}

/// Calls functions of design documents at a peer, and gives it the functions that it does not have. Belongs to one thread at a time.
final class ScriptSession {
    private let peer: any ScriptPeer
    private let limits: ScriptLimits
    /// The keys of the functions that the peer has.
    private var loaded: Set<String> = []

    init(_ peer: any ScriptPeer, _ limits: ScriptLimits) {
        self.peer = peer
        self.limits = limits
    }

    var isUsable: Bool { peer.isUsable }

    /// Answers a request: see ``ScriptPrelude/source``.
    func call(_ function: ScriptFunction, _ request: [UInt8]) throws(ScriptError) -> [UInt8] {
        if !loaded.contains(function.key) {
            if loaded.count >= limits.functions {
                _ = try peer.exchange(ScriptMessage(kind: .forget, bytes: []))
                loaded = []
            }
            _ = try ask(function.key, function.loading)
            loaded.insert(function.key)
        }
        return try ask(function.key, request)
    }

    private func ask(_ key: String, _ request: [UInt8]) throws(ScriptError) -> [UInt8] {
        try peer.exchange(ScriptMessage(kind: .request, bytes: Array(key.utf8) + [0] + request)).answer(
            limits)
    }
}

/// Runs scripts in this process, for systems where apps have no children.
final class LocalScripts: ScriptPeer {
    private var worlds: ScriptWorlds
    let isUsable = true

    init(_ limits: ScriptLimits) { worlds = ScriptWorlds(limits) }

    func exchange(_ message: ScriptMessage) -> ScriptMessage { worlds.answer(message) }
}

/// What functions see of their design document.
struct ScriptDesign: Sendable {
    /// Differs between design documents, between collections, and between versions of one design document.
    private let digest: [UInt8]
    /// The request that gives it to the prelude.
    private let loading: [UInt8]

    init(_ document: Document, in collection: DocumentCollection) {
        self.init(text: document.jsonBytes(), id: document.id, in: collection)
    }

    /// - Parameters:
    ///   - text: The document, or the part of it that its functions see, as JSON.
    ///   - id: The document's name.
    ///   - collection: The one that it is in; `nil` for functions that are only compiled.
    init(text: [UInt8], id: String = "", in collection: DocumentCollection? = nil) {
        // A database that is made in the place of another has its path, and a copy of one has its name.
        let owner = collection.map {
            "\($0.database.path)\0\($0.database.privateUUID)\0\($0.scopeName)\0\($0.collectionName)"
        }
        digest = SHA256.hash(Array("\(owner ?? "")\0\(id)\0".utf8) + text).bytes
        loading = ScriptRequest.text("load", [], [text])
    }

    /// One of its functions.
    func function(_ path: [String]) -> ScriptFunction {
        let hash = SHA256.hash(digest + ScriptRequest.list(path.map(ScriptRequest.string))).bytes
        return ScriptFunction(
            key: hash.map { String($0, radix: 16) }.joined(separator: "."), path: path, loading: loading)
    }
}

/// A function of a design document. Each one has a world of its own, so that what it does to its globals changes no other.
struct ScriptFunction: Sendable {
    /// Tells it from all others.
    let key: String
    /// Where it is in the design document.
    let path: [String]
    /// The request that gives its design document to the prelude.
    let loading: [UInt8]
}

/// The text of a request for the prelude.
enum ScriptRequest {
    /// - Parameters:
    ///   - kind: What is to be done.
    ///   - path: The path of the function in the design document.
    ///   - arguments: JSON texts.
    static func text(_ kind: String, _ path: [String], _ arguments: [[UInt8]]) -> [UInt8] {
        var bytes = Array("[\"\(kind)\",".utf8)
        bytes += list(path.map(string))
        for argument in arguments {
            bytes.append(UInt8(ascii: ","))
            bytes += argument
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// A JSON array of JSON texts.
    static func list(_ elements: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += element
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// A text as JSON.
    static func string(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonString: text)
        return bytes
    }
}
