import Roost
import Synchronization

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

    /// So often a document is tried alone: a server fails now and then for other reasons.
    static let tries = 6

    /// After so many documents a server that has answered for none counts as broken.
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
