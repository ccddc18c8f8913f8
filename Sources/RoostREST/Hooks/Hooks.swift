import Fleece
import Roost
import RoostQuery
import RoostWire

/// A document that is about to be saved, or that a filter looks at.
public struct ExaminedDocument: Sendable {
    /// Its name.
    public let id: String
    /// Whether it is a tombstone.
    public let isDeleted: Bool
    /// Its properties, without those that begin with an underscore.
    public let properties: FleeceDictionary

    /// The value of a property; undefined where there is none.
    public subscript(key: String) -> FleeceValue { properties[key] }
}

/// Why a document is not saved: 403 `forbidden` or 401 `unauthorized`, with a sentence for its author.
public struct ValidationFailure: Error, Sendable, CustomStringConvertible {
    let failure: HTTPFailure

    /// The sentence.
    public var description: String { failure.reason }

    /// The user may not save this.
    public static func forbidden(_ reason: String) -> Self { Self(failure: .forbidden(reason)) }

    /// The user should log in first.
    public static func unauthorized(_ reason: String) -> Self { Self(failure: .unauthorized(reason)) }
}

/// Functions of the app that the router calls, by name: what CouchDB keeps as JavaScript in design documents.
public struct Hooks: Sendable {
    /// Looks at a document before it is saved; throws a ``ValidationFailure`` to refuse it. `old` is what is there, `nil` where nothing is, it
    /// is deleted, or the user does not see the whole document. Called before the write, and once more where the document has been changed
    /// meanwhile; it should end when the task is cancelled.
    public typealias Validation =
        @Sendable (_ new: ExaminedDocument, _ old: Document?, _ user: UserContext) throws -> Void
    /// Says whether a change belongs to a feed. `parameter` looks up those of the request's query.
    public typealias Filter =
        @Sendable (_ document: ExaminedDocument, _ parameter: (String) -> String?, _ user: UserContext) ->
        Bool

    /// Draws where the bytes of a database's file are, as an HTML page that is complete in itself. `isWanted` is to be asked now and then;
    /// once it says no, the function throws `DatabaseError` `cancelled`.
    public typealias FilePicture =
        @Sendable (_ name: String, _ database: Database, _ isWanted: @escaping @Sendable () -> Bool) throws ->
        String

    /// All of them are asked, in the order of their names, of every database.
    public var validations: [String: Validation] = [:]
    /// Filters of `_changes`, by the name that clients give: `design/name`.
    public var filters: [String: Filter] = [:]

    /// Asked about every document that is written from outside, in every database but those of the system (`_users`, …), after the
    /// validations. Default: none.
    ///
    /// With one, who is no administrator of the server or the database reaches only what answers by channels: documents and their
    /// attachments, `_all_docs`, `_bulk_get`, `_bulk_docs`, `_revs_diff`, `_changes`, views, `_find`, local
    /// documents and `_session`. Everything else is 403 for them. What they may not see is answered as what is not there. Documents that were written without asking the function, such as those
    /// that the program itself saved, are for administrators only till it is asked, which the next request has done in the background.
    public var sync: SyncFunction?

    /// Draws what `/_utils/file/NAME` shows to administrators of the server, to which the page at `/_utils` links then. Default: none.
    public var filePicture: FilePicture?

    /// Gets what the server could not answer by a fault of its own, for an operator's log; called from many threads. Default: none.
    public var failures: (@Sendable (ServedFailure) -> Void)?

    /// The languages in which design documents may have functions of their own. Default: none.
    public var languages: [any DesignLanguage] = []

    /// None.
    public init() {}

    /// The filter of that name, byte by byte.
    func filter(_ name: String) -> Filter? {
        guard let index = filters.index(forKey: name), filters[index].key.isIdentical(to: name) else {
            return nil
        }
        return filters[index].value
    }

    /// The language of a design document, JavaScript unless it says another; `nil` for one that is not run here.
    func language(of design: Document) -> (any DesignLanguage)? { language(of: design.value) }

    /// As ``language(of:)-(Document)``, by the document's properties.
    func language(of design: FleeceValue) -> (any DesignLanguage)? {
        let name = design["language"].string ?? "javascript"
        return languages.first { $0.name == name }
    }
}

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

    /// Calls the `validate_doc_update` of a design document.
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

    /// Calls a function under `filters`, which chooses the documents of a feed.
    ///
    /// - Parameters:
    ///   - name: The function's name.
    ///   - design: Its design document.
    ///   - collection: The collection that the design document is in.
    ///   - documents: JSON texts.
    ///   - request: The request as JSON, in CouchDB's form: `query`, `userCtx` and more.
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
