import Fleece
import Roost
import RoostBytes
import RoostCrypto

/// How far a replication has come: a local document of the same content in source and target, with the names that CouchDB
/// gives its members.
///
/// Both sides keep it, so that one that is restored, or created again, does not pass for what it was: the place to go on from
/// is the newest session that both know of. What was not carried is kept with it and tried again by the next run.
package struct Checkpoint: Codable, Sendable, Equatable {
    /// What was done up to one record of the position.
    package struct Session: Codable, Sendable, Equatable {
        package var id: String
        /// When it began and when it ended, as HTTP writes dates.
        package var startTime: String?
        package var endTime: String?
        /// The source's position at its beginning.
        package var start: SourcePosition?
        /// The source's position at its end.
        package var position: SourcePosition
        package var missingChecked = 0
        package var missingFound = 0
        package var docsRead = 0
        package var docsWritten = 0
        package var docWriteFailures = 0

        enum CodingKeys: String, CodingKey {
            case id = "session_id"
            case startTime = "start_time"
            case endTime = "end_time"
            case start = "start_last_seq"
            case position = "recorded_seq"
            case missingChecked = "missing_checked"
            case missingFound = "missing_found"
            case docsRead = "docs_read"
            case docsWritten = "docs_written"
            case docWriteFailures = "doc_write_failures"
        }
    }

    /// A revision before the position that the target does not have.
    package struct Failure: Codable, Sendable, Equatable {
        package var document: String
        /// As the source writes it; `nil` where it could not be read.
        package var revision: String?

        enum CodingKeys: String, CodingKey {
            case document = "id"
            case revision = "rev"
        }

        /// By bytes, as names are compared.
        package static func == (left: Self, right: Self) -> Bool {
            ByteKey(left.document) == ByteKey(right.document)
                && left.revision.map(ByteKey.init) == right.revision.map(ByteKey.init)
        }
    }

    /// The newest session first.
    package private(set) var history: [Session] = []
    package private(set) var session: String = ""
    /// Up to where everything is in the target but for ``failures``; `nil` for the beginning.
    package private(set) var position: SourcePosition?
    /// `nil` where there are none.
    private var failed: [Failure]?
    private var version = 1

    /// How many sessions are remembered, as in CouchDB.
    private static let longestHistory = 50

    enum CodingKeys: String, CodingKey {
        case history
        case session = "session_id"
        case position = "source_last_seq"
        case failed = "failures"
        case version = "replication_id_version"
    }

    package init() {}

    /// The content of a local document; `nil` for one that is no checkpoint.
    init?(_ local: LocalDocument) {
        guard let checkpoint = try? local.decode(Checkpoint.self) else { return nil }
        self = checkpoint
    }

    /// What the target lacks of everything up to the position.
    package var failures: [Failure] { failed ?? [] }

    /// Records that everything up to the end of `session` is in the target, but for `failures`.
    package mutating func record(_ session: Session, failures: [Failure] = []) {
        failed = failures.isEmpty ? nil : failures
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
        guard common.position != nil else { return common }
        // One side may have been restored to a time when another failure was known. Those that are none any more are found out.
        let all = source.failures + target.failures
        common.failed = all.isEmpty ? nil : all
        return common
    }
}

/// The checkpoints of one replication in its source and its target.
struct CheckpointStore {
    let id: String
    let source: any ReplicationPeer
    let target: any ReplicationPeer
    /// Whether the source takes checkpoints: one that may only be read does not, and the target's alone count then.
    private var sourceTakesThem = true

    init(_ id: String, source: any ReplicationPeer, target: any ReplicationPeer) {
        (self.id, self.source, self.target) = (id, source, target)
    }

    /// What both sides remember up to the newest session that both know of.
    mutating func load() async throws -> Checkpoint {
        let there = try await target.checkpoint(id)
        do {
            if let here = try await source.checkpoint(id) { return Checkpoint.common(here, there) }
            guard there?.position != nil else { return Checkpoint() }
            // The source was created again, or restored, and everything is compared; unless it could not keep any.
            try await source.save(Checkpoint(), as: id)
            return Checkpoint()
        } catch {
            guard error.refusesCheckpoints else { throw error }
            sourceTakesThem = false
            return there ?? Checkpoint()
        }
    }

    /// Saves it in the source first, so that the target never knows of a session that the source does not.
    mutating func save(_ checkpoint: Checkpoint) async throws {
        if sourceTakesThem {
            do {
                try await source.save(checkpoint, as: id)
            } catch {
                guard error.refusesCheckpoints else { throw error }
                sourceTakesThem = false
            }
        }
        try await target.save(checkpoint, as: id)
    }
}

extension Error {
    /// Whether a source says that it may not be written to.
    fileprivate var refusesCheckpoints: Bool {
        switch self {
        case let error as RemoteError: error.refusesWriting
        case let error as DatabaseError: error.code == .readOnly
        default: false
        }
    }
}

/// Names the checkpoints of a replication: the same endpoints and the same selection, by the same filter function, have the same name.
///
/// SHA-256, in hexadecimal, of canonical JSON about both ends and what is replicated. Names of other programs' replicators
/// never meet these, and need not.
package enum ReplicationID {
    package static func make(
        source: String, target: String, _ options: ReplicationOptions, filterCode: String? = nil
    ) -> String {
        var parts: NamedValues<DocumentValue> = [
            "source": .string(source), "target": .string(target), "selection": options.selection.description,
        ]
        if let filterCode { parts["filterCode"] = .string(filterCode) }
        if let since = options.since { parts["since"] = .string(since) }
        let text = DocumentValue.dictionary(parts).description
        return SHA256.hash(Array(text.utf8)).description
    }
}
