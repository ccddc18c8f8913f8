import Fleece
import Roost
import RoostQuery

/// Runs functions that are written in design documents: what CouchDB has its query servers for.
///
/// Calls may take long; the router makes them on threads of its own, several at a time.
public protocol DesignLanguage: Sendable {
    /// The value of `language` in design documents that are written in it.
    var name: String { get }

    /// Makes their views.
    var viewCompiler: any ViewCompiler { get }

    /// Looks whether the functions of a design document that is to be saved can be run, as far as CouchDB does: maps and reductions of
    /// views. The default finds nothing wrong.
    ///
    /// - Parameter design: The document's properties.
    /// - Throws: ``LanguageError`` for one that can't. The document is not saved then, unless the language can't be run here at all.
    func check(_ design: FleeceValue) throws

    /// Asks the `validate_doc_update` of a design document whether a document may be saved.
    ///
    /// - Parameters:
    ///   - question: What is to be saved, by whom.
    ///   - design: The design document.
    ///   - collection: The collection that the design document is in. Functions share no state with those of another one.
    /// - Returns: Why not; `nil` where it may.
    /// - Throws: ``LanguageError`` when the function can't answer; the document is not saved then.
    func validate(
        _ question: ValidationQuestion, of design: Document, in collection: DocumentCollection
    ) throws -> ValidationFailure?

    /// Asks a function under `filters` which documents belong to a feed.
    ///
    /// - Parameters:
    ///   - name: The function's name.
    ///   - design: Its design document.
    ///   - collection: The collection that the design document is in.
    ///   - documents: JSON texts.
    ///   - request: The JSON text of what CouchDB tells of the request: `query`, `userCtx` and more.
    /// - Returns: The answer for each of the documents.
    /// - Throws: ``LanguageError``.
    func filter(
        _ name: String, of design: Document, in collection: DocumentCollection, _ documents: [[UInt8]],
        request: [UInt8]
    ) throws -> [Bool]
}

extension DesignLanguage {
    /// Finds nothing wrong.
    public func check(_ design: FleeceValue) throws {}
}

/// What a `validate_doc_update` is asked: JSON texts.
public struct ValidationQuestion: Sendable {
    /// The document that is to be saved.
    public let new: [UInt8]
    /// The one that is there; `nil` for none.
    public let old: [UInt8]?
    /// Who saves it: `db`, `name` and `roles`.
    public let user: [UInt8]
    /// The database's security object.
    public let security: [UInt8]
}

/// Why a function of a design document has no answer.
public struct LanguageError: Error, Sendable, CustomStringConvertible {
    /// What kind of error it is.
    public enum Code: Sendable {
        /// The language can't be run here.
        case unavailable
        /// The function threw, or is written wrongly, or took too much.
        case failed
        /// It took too long.
        case tooLong
    }

    /// What kind of error it is.
    public let code: Code
    /// A sentence for the function's author.
    public let description: String

    /// An error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
