import Roost

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
