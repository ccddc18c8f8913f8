import Fleece
import RoostBytes
import RoostFile
import RoostStorage

extension DatabaseError {
    /// What a failure of the storage engine means to the user of a database.
    init(_ error: StoreError) {
        self.init(Self.code(of: error.code), error.message, underlying: error.cause)
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
        self.init(code, error.sentence, underlying: error)
    }

    /// Why JSON text, or a value that was built, cannot become a document.
    init(_ error: FleeceError) {
        let code: Code = error.code == .tooDeep || error.code == .tooLarge ? .limitExceeded : .invalidDocument
        self.init(code, "This cannot be a document. \(error)", underlying: error)
    }

    /// A stored entry that no Roost wrote.
    static func damaged(_ what: String) -> Self {
        Self(
            .damaged,
            "\(what) is not what Roost writes. Check the database's integrity, and restore a backup.")
    }
}

/// Runs a call to the engine and gives its failure the database's face.
@inline(__always)
func engine<R>(_ body: () throws(StoreError) -> R) throws(DatabaseError) -> R {
    do throws(StoreError) {
        return try body()
    } catch {
        throw DatabaseError(error)
    }
}

/// Runs a call to the body format and gives its failure the database's face.
@inline(__always)
func bodyCall<R>(_ body: () throws(FleeceError) -> R) throws(DatabaseError) -> R {
    do throws(FleeceError) {
        return try body()
    } catch {
        throw DatabaseError(error)
    }
}

/// Runs a call to the medium and gives its failure the database's face.
func mediumCall<R>(_ body: () throws(FileError) -> R) throws(DatabaseError) -> R {
    do throws(FileError) {
        return try body()
    } catch {
        throw DatabaseError(error)
    }
}
