import Roost

/// How far a replication has come: a local document of the same content in source and target, with the names that CouchDB
/// gives its members.
///
/// Both sides keep it, so that one that is restored, or made anew, does not pass for what it was: the place to go on from
/// is the newest session that both know of.
package struct Checkpoint: Codable, Sendable, Equatable {
    /// What was done up to one record of the position.
    package struct Session: Codable, Sendable, Equatable {
        package var id: String
        /// The source's position at its end.
        package var position: SourcePosition
        package var missingChecked = 0
        package var missingFound = 0
        package var docsRead = 0
        package var docsWritten = 0
        package var docWriteFailures = 0

        enum CodingKeys: String, CodingKey {
            case id = "session_id"
            case position = "recorded_seq"
            case missingChecked = "missing_checked"
            case missingFound = "missing_found"
            case docsRead = "docs_read"
            case docsWritten = "docs_written"
            case docWriteFailures = "doc_write_failures"
        }
    }

    /// The newest session first.
    package private(set) var history: [Session] = []
    package private(set) var session: String = ""
    /// Up to where everything is in the target; `nil` for the beginning.
    package private(set) var position: SourcePosition?
    private var version = 1

    /// How many sessions are remembered, as in CouchDB.
    private static let longestHistory = 50

    enum CodingKeys: String, CodingKey {
        case history
        case session = "session_id"
        case position = "source_last_seq"
        case version = "replication_id_version"
    }

    package init() {}

    /// The content of a local document; `nil` for one that is no checkpoint.
    init?(_ local: LocalDocument) {
        guard let checkpoint = try? local.decode(Checkpoint.self) else { return nil }
        self = checkpoint
    }

    /// Records that everything up to the end of `session` is in the target.
    package mutating func record(_ session: Session) {
        history = [session] + history.prefix(Self.longestHistory - 1)
        self.session = session.id
        position = session.position
    }

    /// What both sides remember, up to the newest session that both know of; empty where they have none in common.
    package static func common(_ source: Checkpoint?, _ target: Checkpoint?) -> Checkpoint {
        guard let source, let target else { return Checkpoint() }
        let known = Dictionary(
            source.history.map { ($0.id, $0.position) }, uniquingKeysWith: { first, _ in first })
        var common = Checkpoint()
        common.history = Array(target.history.drop { known[$0.id] != $0.position })
        common.session = common.history.first?.id ?? ""
        common.position = common.history.first?.position
        return common
    }
}
