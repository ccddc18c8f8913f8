import Fleece
import Foundation
import RoostBlobs
import RoostBytes
import RoostFile
import RoostStorage

/// The error that every throwing call of Roost throws.
///
/// ``code`` is for programs: it says which kind of thing went wrong and never changes its meaning.
/// ``message`` is for people: a sentence that names what was at fault and what to do about it. Its wording
/// may change between releases. A missing document is not an error; look-ups answer `nil`.
///
/// ```swift
/// do {
///     try notes.save(&draft)
/// } catch {
///     guard error.code == .conflict else { throw error }
///     // Somebody saved first.
/// }
/// ```
public struct DatabaseError: Error, Sendable {
    /// The kind of failure.
    public var code: Code

    /// What went wrong, where, and what to do, as one or more sentences.
    public var message: String

    /// The error of a lower layer that led to this one, if there was one.
    public var underlyingError: (any Error)?

    /// Makes an error. `message` should be a whole sentence that a user can act on.
    public init(_ code: Code, _ message: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlyingError = underlyingError
    }
}

extension DatabaseError {
    /// The kinds of failure that callers tell apart.
    ///
    /// A struct and not an enum, so that a later release can add kinds without breaking a `switch`: always
    /// have a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name as written in source, such as `notFound`. Stable.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }
    }
}

extension DatabaseError.Code {
    // What the caller asked for.

    /// Something that has to exist does not: a collection, a revision to build on, a blob.
    public static let notFound = Self("notFound")
    /// Something stands already where something new was to be made.
    public static let alreadyExists = Self("alreadyExists")
    /// The document was changed since the revision the change was based on.
    public static let conflict = Self("conflict")
    /// The document ID breaks a rule for document IDs.
    public static let invalidDocumentID = Self("invalidDocumentID")
    /// The revision ID is not of the form `generation-digest`.
    public static let invalidRevisionID = Self("invalidRevisionID")
    /// A revision contradicts itself or its document: a reserved property was changed, or a revision's
    /// history does not fit what is known of it.
    public static let corruptRevisionData = Self("corruptRevisionData")
    /// An attachment is a stub of what is not here; send its content.
    public static let missingStub = Self("missingStub")
    /// The collection or scope name breaks a rule for names.
    public static let invalidName = Self("invalidName")
    /// What should become a document cannot: its JSON is malformed, it is not an object, or encoding it failed.
    public static let invalidDocument = Self("invalidDocument")
    /// A query cannot be understood: its text is malformed, or it names something that there is not.
    public static let invalidQuery = Self("invalidQuery")
    /// A query wants an index, and there is none that fits.
    public static let noIndex = Self("noIndex")
    /// A date is not a number, or beyond what can be stored.
    public static let invalidDate = Self("invalidDate")
    /// A stored document is not of the shape that the type asked for can be decoded from.
    public static let decodingFailed = Self("decodingFailed")
    /// A value is larger, deeper or more numerous than Roost can store.
    public static let limitExceeded = Self("limitExceeded")
    /// A change was asked of a database that is open for reading only.
    public static let readOnly = Self("readOnly")
    /// The key or passphrase does not open this database.
    public static let wrongKey = Self("wrongKey")
    /// A write was begun within another one on the same thread.
    public static let nestedWrite = Self("nestedWrite")
    /// The database or the transaction has been closed.
    public static let closed = Self("closed")
    /// The operation was cancelled before it took effect.
    public static let cancelled = Self("cancelled")

    // What the world did.

    /// The path does not lead to a Roost database.
    public static let notADatabase = Self("notADatabase")
    /// The database was written by a newer Roost than this one.
    public static let unsupportedFormat = Self("unsupportedFormat")
    /// Bytes read from the medium are not what Roost wrote.
    public static let damaged = Self("damaged")
    /// Another process is writing to the database.
    public static let locked = Self("locked")
    /// The medium is full.
    public static let noSpace = Self("noSpace")
    /// The medium failed to read or write.
    public static let inputOutput = Self("inputOutput")
    /// The system does not allow the access.
    public static let permissionDenied = Self("permissionDenied")
    /// An earlier write or sync failed in a way that leaves the medium's content unknown; open the database again.
    public static let writerFailed = Self("writerFailed")
}

extension DatabaseError: CustomStringConvertible {
    /// The message. It says all that the underlying error says to people.
    public var description: String { message }
}

extension DatabaseError {
    /// `text` as it may stand in a message: in quotation marks, control characters escaped, cut off after
    /// 60 characters, since it may come from a stranger.
    static func quoted(_ text: String) -> String {
        let start = String(text.unicodeScalars.prefix(60))
        return start.utf8.count == text.utf8.count ? text.debugDescription : "\(start.debugDescription)…"
    }
}

// MARK: - Localized

extension DatabaseError: LocalizedError {
    /// The message, for an alert's text.
    public var errorDescription: String? { message }
}

// MARK: - Layers

extension DatabaseError {
    /// What a failure of the storage engine means to the user of a database.
    init(_ error: StoreError) {
        let cause = error.code == .notFound ? error.cause ?? MissingCollection() : error.cause
        self.init(Self.code(of: error.code), error.message, underlyingError: cause)
    }

    private static func code(of code: StoreError.Code) -> Code {
        switch code {
        case .notFound: .notFound
        case .alreadyExists: .alreadyExists
        case .notAStore: .notADatabase
        case .unsupportedFormat: .unsupportedFormat
        case .damaged, .missingReduction: .damaged
        case .locked: .locked
        case .readOnly: .readOnly
        case .noSpace: .noSpace
        case .permissionDenied: .permissionDenied
        case .writerFailed: .writerFailed
        case .limitExceeded: .limitExceeded
        case .nestedWrite: .nestedWrite
        case .closed: .closed
        case .wrongKey: .wrongKey
        case .cancelled: .cancelled
        default: .inputOutput
        }
    }

    /// What a failed call to the medium means, other than on the engine's own file.
    init(_ error: FileError) {
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .alreadyExists: .alreadyExists
            case .noSpace: .noSpace
            case .permissionDenied: .permissionDenied
            case .locked: .locked
            default: .inputOutput
            }
        self.init(code, error.description, underlyingError: error)
    }

    /// What a failure of the blob store means to the user of a database.
    init(_ error: BlobError) {
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .damaged, .contentChanged: .damaged
            case .foreign: .notADatabase
            case .unsupportedFormat: .unsupportedFormat
            case .invalidDigest, .invalidContent: .invalidDocument
            case .tooLong: .limitExceeded
            case .closed: .closed
            case .cancelled: .cancelled
            case .noSpace: .noSpace
            case .permissionDenied: .permissionDenied
            case .inputOutput: .inputOutput
            }
        self.init(code, error.message, underlyingError: error.cause)
    }

    /// Why JSON text, or a value that was built, cannot become a document.
    init(_ error: FleeceError) {
        let code: Code = error.code == .tooDeep || error.code == .tooLarge ? .limitExceeded : .invalidDocument
        self.init(code, "This cannot be a document. \(error)", underlyingError: error)
    }

    /// A stored entry that no Roost wrote.
    static func damaged(_ what: String) -> Self {
        Self(
            .damaged,
            "\(what) is not what Roost writes. Check the database's integrity, and restore a backup.")
    }
}

/// The cause of a `notFound` that says that a collection is not there, and not something in it.
struct MissingCollection: Error {}

extension DatabaseError {
    /// Whether the collection that was to be read or written is not there, or not any more.
    package var isOfMissingCollection: Bool { code == .notFound && underlyingError is MissingCollection }
}

/// An error of a layer below.
protocol LayerError: Error {
    /// What it means to the user of a database.
    var databaseError: DatabaseError { get }
}

extension StoreError: LayerError {
    var databaseError: DatabaseError { DatabaseError(self) }
}

extension FileError: LayerError {
    var databaseError: DatabaseError { DatabaseError(self) }
}

extension BlobError: LayerError {
    var databaseError: DatabaseError { DatabaseError(self) }
}

extension FleeceError: LayerError {
    var databaseError: DatabaseError { DatabaseError(self) }
}

/// Runs a call to a layer below and gives its failure the database's face.
@inline(__always)
func translating<R, Failure: LayerError>(
    _ body: () throws(Failure) -> R
) throws(DatabaseError) -> R {
    do throws(Failure) {
        return try body()
    } catch {
        throw error.databaseError
    }
}
