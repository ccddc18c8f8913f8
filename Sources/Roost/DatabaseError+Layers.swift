import Fleece
import RoostBlobs
import RoostBytes
import RoostFile
import RoostStorage

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
