import Roost

/// How a replication stands.
public struct ReplicationStatus: Sendable {
    /// What it is doing.
    public enum Phase: Sendable {
        /// Comparing or carrying revisions.
        case active
        /// All is carried; waiting for changes.
        case idle
        /// Waiting some seconds before it tries again what has failed.
        case waiting(seconds: Double)
        /// Held by ``Replication/pause()``.
        case paused
        /// Ended: all was carried, or it was stopped.
        case finished
        /// Ended by an error that trying again would not mend.
        case failed(any Error)
    }

    /// What it is doing.
    public internal(set) var phase = Phase.active
    /// Counts of what went from here to there.
    public internal(set) var pushed = ReplicationCounts()
    /// Counts of what came from there.
    public internal(set) var pulled = ReplicationCounts()
    /// The documents that are not carried, at most ``longestList`` of them: those that earlier runs could not carry, either, are tried
    /// again by each run and are listed while that fails. Each is listed until it is carried or its document changes.
    public var problems: [ReplicationProblem] {
        Array((pullFailures.all + pushFailures.all + unresolved.all).suffix(Self.longestList))
    }
    /// How many documents are not carried, those that the list has no room for included.
    public var problemCount: Int { pullFailures.count + pushFailures.count + unresolved.count }
    /// What the last try failed with; `nil` once one has succeeded.
    public internal(set) var lastError: (any Error)?

    /// How many problems are kept.
    public static let longestList = 1000

    /// Whether it has ended.
    public var isEnded: Bool {
        switch phase {
        case .finished, .failed: true
        default: false
        }
    }

    /// What both sides remember of the last push.
    package internal(set) var checkpoint: Checkpoint?

    /// The directions in which all is carried.
    var idle: Set<ReplicationOptions.Direction> = []

    /// What did not come from there, and what did not go there.
    var pullFailures = FailureList()
    var pushFailures = FailureList()
    /// The documents whose conflicts could not be settled.
    var unresolved = FailureList()
}

/// What went in one direction since the replication began.
public struct ReplicationCounts: Sendable, Equatable {
    /// Changed documents that were looked at.
    public internal(set) var checked = 0
    /// Revisions that the target lacked.
    public internal(set) var missing = 0
    /// Revisions that the target has now.
    public internal(set) var written = 0
    /// Revisions that could not be read, or that the target refused.
    public internal(set) var failed = 0
    /// Changes that are still to be looked at, where that is known.
    public internal(set) var pending: Int?
    /// Where it is in the source's changes.
    package internal(set) var position: SourcePosition?
    /// Up to where both sides remember that all was carried.
    package internal(set) var recorded: SourcePosition?
}

/// A revision that was not carried. The replication goes on without it, and the next one tries it again.
public struct ReplicationProblem: Sendable, Error, CustomStringConvertible {
    /// The document.
    public let document: String
    /// The revision, where it is known which.
    public let revision: RevisionID?
    /// Why.
    public let cause: any Error

    /// The revision as the source writes it.
    let revisionText: String?

    init(_ document: String, _ revision: RevisionID?, _ cause: any Error) {
        self.document = document
        self.revision = revision
        self.cause = cause
        revisionText = revision?.description
    }

    /// A problem of a revision that has a name which is no revision ID here.
    init(_ document: String, unusable revision: String, _ cause: any Error) {
        self.document = document
        self.revision = nil
        self.cause = cause
        revisionText = revision
    }

    /// Document, revision and cause.
    public var description: String {
        "\(document)\(revisionText.map { " at \($0.prefix(100))" } ?? ""): \(cause.sentence)"
    }
}
