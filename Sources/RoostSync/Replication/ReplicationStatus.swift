import Roost
import Synchronization

/// The status of a replication.
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
    /// The documents whose conflicts could not be resolved.
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

    /// These counts and earlier ones of the same direction. What failed earlier was tried again.
    func adding(_ earlier: Self) -> Self {
        var sum = self
        sum.checked += earlier.checked
        sum.missing += earlier.missing
        sum.written += earlier.written
        return sum
    }
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

/// What a transfer has not carried: each revision once, until its document changes or it is carried after all.
struct FailureList: Sendable {
    private var byDocument: NamedValues<[ReplicationProblem]> = [:]
    /// How many more there were than are kept.
    private var others = 0
    private var listed = 0

    /// How many there are.
    var count: Int { listed + others }

    /// All that are kept, by document.
    var all: [ReplicationProblem] { byDocument.values.flatMap(\.self) }

    /// What the next run is to try again; `nil` where there are more than that.
    var remembered: [Checkpoint.Failure]? {
        guard others == 0 else { return nil }
        return all.map { Checkpoint.Failure(document: $0.document, revision: $0.revisionText) }
    }

    mutating func add(_ problems: [ReplicationProblem]) {
        for problem in problems {
            guard listed < ReplicationStatus.longestList else {
                others += 1
                continue
            }
            byDocument[problem.document] = (byDocument[problem.document] ?? []) + [problem]
            listed += 1
        }
    }

    /// The document is looked at again: what failed of it before counts no longer.
    mutating func forget(_ document: String) {
        listed -= byDocument.removeValue(forKey: document)?.count ?? 0
    }
}

/// An error that a function of the program threw about one document.
struct FunctionError: Error, CustomStringConvertible {
    let cause: any Error

    var description: String { cause.sentence }
}

extension Error {
    /// Whether the error says something of one document only. All others, such as those of the medium and of the network,
    /// stop a transfer: what it was about to do is done by the next try.
    var isOfOneDocument: Bool {
        switch self {
        // Without the collection nothing can be done about any document.
        case let error as DatabaseError where error.isOfMissingCollection: return false
        case let error as DatabaseError:
            let codes: [DatabaseError.Code] = [
                .corruptRevisionData, .invalidDocument, .invalidDocumentID, .invalidRevisionID,
                .limitExceeded,
                .notFound, .missingStub, .damaged, .unsupportedFormat, .conflict,
            ]
            return codes.contains(error.code)
        case let error as RemoteError: return error.isOfOneDocument
        default: return self is FunctionError
        }
    }

    /// Whether a transfer that ended with this error might succeed later.
    var isWorthTryingAgain: Bool {
        switch self {
        case let error as DatabaseError: [.noSpace, .inputOutput, .locked].contains(error.code)
        case let error as RemoteError: error.isTemporary
        case let error as TransportError: error.isTemporary
        case is StandstillError: false
        default: true
        }
    }
}

/// Documents at which a server failed (500), each alone.
///
/// A server that fails at one document fails at each list that has it, and at nothing else; a server that is broken fails at everything.
/// So these are problems of the documents only where the server has answered for others, and otherwise an error that ends the transfer,
/// to be tried again later.
struct ServerFailures {
    private var broken: [ReplicationProblem] = []
    /// Whether the server has answered for documents otherwise.
    var hasAnswered = false

    /// How often a document is tried alone: a server sometimes fails for other reasons.
    static let tries = 6

    /// A server that has failed at this number of documents and answered for none counts as broken.
    private static let mostUnanswered = 4

    /// - Throws: The error of a server that is broken.
    mutating func add(_ problem: ReplicationProblem) throws {
        broken.append(problem)
        if broken.count >= Self.mostUnanswered { _ = try problems() }
    }

    /// - Throws: The error of a server that is broken.
    func problems() throws -> [ReplicationProblem] {
        guard let first = broken.first, !hasAnswered else { return broken }
        throw first.cause
    }
}

/// ``ServerFailures`` at documents that are carried several at a time.
final class SharedServerFailures: Sendable {
    private let failures: Mutex<ServerFailures>

    /// - Parameter hasAnswered: Whether the server has answered for other documents of the same list.
    init(hasAnswered: Bool = false) {
        var failures = ServerFailures()
        failures.hasAnswered = hasAnswered
        self.failures = Mutex(failures)
    }

    /// Whether the server has answered for any document.
    var hasAnswered: Bool { failures.withLock(\.hasAnswered) }

    /// The server has answered for a document.
    func noteAnswer() { failures.withLock { $0.hasAnswered = true } }

    /// Runs what asks the server about one revision alone, and again where the server fails at it.
    ///
    /// - Returns: `nil` where it fails each time: the revision is a problem then.
    /// - Throws: The error of a server that is broken; what `body` throws.
    func run<R: Sendable>(
        _ id: String, _ revision: RevisionID, _ body: () async throws -> R
    ) async throws -> R? {
        for tries in 1... {
            do {
                let result = try await body()
                noteAnswer()
                return result
            } catch let error as RemoteError where error.isServerFailure {
                guard tries >= ServerFailures.tries else { continue }
                try failures.withLock { try $0.add(ReplicationProblem(id, revision, error)) }
                break
            }
        }
        return nil
    }

    /// - Throws: The error of a server that is broken.
    func problems() throws -> [ReplicationProblem] { try failures.withLock { try $0.problems() } }
}
