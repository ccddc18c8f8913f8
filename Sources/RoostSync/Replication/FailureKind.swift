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
