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
    /// The documents that were not carried, the newest last, at most ``longestList`` of them. Each stands here until its
    /// document changes again.
    public internal(set) var problems: [ReplicationProblem] = []
    /// How many documents were not carried, those that left the list included.
    public internal(set) var problemCount = 0
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

    mutating func add(_ new: [ReplicationProblem]) {
        problemCount += new.count
        problems = Array((problems + new).suffix(Self.longestList))
    }
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

/// A revision that was not carried. The replication goes on without it.
public struct ReplicationProblem: Sendable, Error, CustomStringConvertible {
    /// The document.
    public let document: String
    /// The revision, where it is known which.
    public let revision: RevisionID?
    /// Why.
    public let cause: any Error

    init(_ document: String, _ revision: RevisionID?, _ cause: any Error) {
        self.document = document
        self.revision = revision
        self.cause = cause
    }

    /// Document, revision and cause.
    public var description: String {
        "\(document)\(revision.map { " at \($0)" } ?? ""): \(cause.sentence)"
    }
}
