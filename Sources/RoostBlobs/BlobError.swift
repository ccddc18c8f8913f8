import RoostFile

/// Why a blob could not be stored or read.
///
/// Internal to the package: Roost turns it into its own public error.
package struct BlobError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers tell apart.
    package enum Code: Sendable {
        /// There is no such blob.
        case notFound
        /// The file is not what was written: changed, cut off, exchanged, or written under another key.
        case damaged
        /// The file was written by a newer Roost, or under a key that is not here.
        case unsupportedFormat
        /// What stands where the directories of blobs belong was not made by Roost.
        case foreign
        /// The digest's text is not one.
        case invalidDigest
        /// The content turned out to be another one than announced.
        case contentChanged
        /// The content is not of the form in which it was said to come.
        case invalidContent
        /// The content is longer than its writer was told to store.
        case tooLong
        /// The writer has installed its blob, or was closed.
        case closed
        case cancelled
        case noSpace
        case permissionDenied
        case inputOutput
    }

    package var code: Code
    /// A sentence for people.
    package var message: String
    package var description: String { message }
    /// The failed call to the medium that led to this, if there was one.
    package var cause: FileError?

    package init(_ code: Code, _ message: String, cause: FileError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    init(_ error: FileError) {
        if case .notAFile(let kind) = error.code {
            self = Self.damaged(error.path, "it is \(kind) and no file of its own")
            return
        }
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .noSpace: .noSpace
            case .permissionDenied: .permissionDenied
            default: .inputOutput
            }
        self.init(code, error.description, cause: error)
    }

    static let storeClosed = Self(.closed, "The database was closed. Open it again.")

    static func damaged(_ path: String, _ reason: String) -> Self {
        Self(.damaged, "The blob file \(path) is damaged: \(reason). Restore it from a backup or a peer.")
    }
}

/// Runs a call to the medium and gives its failure this module's face.
@inline(__always)
func medium<R>(_ body: () throws(FileError) -> R) throws(BlobError) -> R {
    do throws(FileError) {
        return try body()
    } catch {
        throw BlobError(error)
    }
}
