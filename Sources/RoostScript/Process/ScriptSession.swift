/// Whatever answers messages: another process, or this one.
protocol ScriptPeer: AnyObject {
    /// Whether it can be asked again.
    var isUsable: Bool { get }
    /// Asks and waits for the answer.
    func exchange(_ message: ScriptMessage) throws(ScriptError) -> ScriptMessage
}

/// Asks a peer for functions of design documents, and gives it the documents that it does not have. Belongs to one thread at a time.
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
