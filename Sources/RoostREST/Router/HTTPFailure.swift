import Roost
import RoostQuery
import RoostWire

/// An answer that reports a failure, in the words that CouchDB's clients compare.
struct HTTPFailure: Error, Sendable {
    let status: Int
    /// The short word.
    let error: String
    /// What to tell people.
    let reason: String
    var headers = HTTPHeaders()

    init(_ status: Int, _ error: String, _ reason: String, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.error = error
        self.reason = reason
        self.headers = headers
    }

    static let missing = Self(404, "not_found", "missing")
    static let deleted = Self(404, "not_found", "deleted")
    static let noDatabase = Self(404, "not_found", "Database does not exist.")
    static let conflict = Self(409, "conflict", "Document update conflict.")
    static let invalidRevision = Self(400, "bad_request", "Invalid rev format")
    static let noAttachment = Self(404, "not_found", "Document is missing attachment")

    /// The words that CouchDB has for it.
    static let timeout = Self(
        500, "timeout", "The request could not be processed in a reasonable amount of time.")

    static func badRequest(_ reason: String) -> Self { Self(400, "bad_request", reason) }
    static func invalidQuery(_ reason: String) -> Self { Self(400, "query_parse_error", reason) }
    static func forbidden(_ reason: String) -> Self { Self(403, "forbidden", reason) }
    static func unauthorized(_ reason: String) -> Self { Self(401, "unauthorized", reason) }

    /// A part of CouchDB's API that is not here.
    static func notImplemented(_ feature: String) -> Self {
        Self(501, "not_implemented", "\(feature) is not supported by Roost.")
    }

    static func attachmentTooLarge(_ longest: UInt64) -> Self {
        Self(413, "attachment_too_large", "The attachment is longer than \(longest) bytes.")
    }

    /// The method is not one of these.
    static func method(_ allowed: [String]) -> Self {
        let list = allowed.joined(separator: ",")
        return Self(405, "method_not_allowed", "Only \(list) allowed", headers: ["Allow": list])
    }

    /// `{"error","reason"}`.
    var json: JSON { ["error": .string(error), "reason": .string(reason)] }

    /// The failure that any error of a handler is answered with.
    init(_ error: any Error) {
        switch error {
        case let failure as HTTPFailure: self = failure
        case let refusal as ValidationFailure: self = refusal.failure
        case let error as DatabaseError: self.init(error)
        case let error as WireError: self.init(error)
        case let error as ViewError: self.init(error)
        case let error as LanguageError: self.init(error)
        case is WorkExecutor.Timeout: self = .timeout
        case is CancellationError: self.init(503, "service unavailable", "The request was cancelled.")
        default: self.init(500, "unknown_error", error.sentence)
        }
    }

    private init(_ error: WireError) {
        let word =
            switch error.status {
            case 413: "too_large"
            case 414: "too_long"
            case 501: "not_implemented"
            default: "bad_request"
            }
        self.init(error.status, word, error.description)
    }

    private init(_ error: LanguageError) {
        switch error.code {
        case .unavailable: self.init(501, "not_implemented", error.description)
        case .failed: self.init(500, "unknown_error", error.description)
        case .tooLong: self.init(500, "timeout", error.description)
        }
    }

    private init(_ error: ViewError) {
        switch error.code {
        case .invalidParameters: self = .invalidQuery(error.message)
        case .notFound: self.init(404, "not_found", error.message)
        case .invalidView: self.init(400, "compilation_error", error.message)
        case .notReducible: self.init(400, "builtin_reduce_error", error.message)
        case .unsupportedLanguage: self.init(501, "not_implemented", error.message)
        default: self.init(500, "unknown_error", error.message)
        }
    }

    private init(_ error: DatabaseError) {
        switch error.code {
        case .invalidQuery: self.init(400, error.mangoWord ?? "invalid_selector", error.message)
        case .noIndex: self.init(400, "invalid_index", error.message)
        case .conflict: self = .conflict
        case .invalidDocumentID: self.init(400, "illegal_docid", error.message)
        case .invalidRevisionID: self = .invalidRevision
        case .invalidDocument, .invalidName, .corruptRevisionData, .decodingFailed:
            self.init(400, "bad_request", error.message)
        case .limitExceeded: self.init(413, "document_too_large", error.message)
        case .notFound where error.isOfMissingCollection: self = .noDatabase
        case .notFound, .missingStub: self.init(412, "missing_stub", error.message)
        case .closed: self = .noDatabase
        case .readOnly, .permissionDenied: self.init(403, "forbidden", error.message)
        case .noSpace: self.init(507, "insufficient_storage", error.message)
        case .cancelled, .locked: self.init(503, "service unavailable", error.message)
        default: self.init(500, "unknown_error", error.message)
        }
    }
}
