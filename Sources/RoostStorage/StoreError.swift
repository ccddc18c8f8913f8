import RoostFile

/// Why the store refused or failed: what happened, where, and what to do about it.
///
/// A missing key is not an error but `nil`.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure that a program may want to tell apart. More may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as it stands in logs.
        public let description: String

        /// There is no file at the path.
        public static let notFound = Code(description: "notFound")
        /// Something of that name is there already.
        public static let alreadyExists = Code(description: "alreadyExists")
        /// The file is no Roost store.
        public static let notAStore = Code(description: "notAStore")
        /// The file needs a newer version of Roost.
        public static let unsupportedFormat = Code(description: "unsupportedFormat")
        /// Bytes read from the file are not the bytes that were written.
        public static let damaged = Code(description: "damaged")
        /// Another process or handle is writing the store.
        public static let locked = Code(description: "locked")
        /// The store was opened for reading only.
        public static let readOnly = Code(description: "readOnly")
        /// The medium is full.
        public static let noSpace = Code(description: "noSpace")
        /// The medium failed to read, write or sync.
        public static let inputOutput = Code(description: "inputOutput")
        /// The system does not allow the access.
        public static let permissionDenied = Code(description: "permissionDenied")
        /// An earlier write or sync failed, so this handle takes no more writes.
        public static let writerFailed = Code(description: "writerFailed")
        /// A key, value or name is outside its limits.
        public static let limitExceeded = Code(description: "limitExceeded")
        /// A write was begun within another one on the same thread.
        public static let nestedWrite = Code(description: "nestedWrite")
        /// The transaction or store has ended already.
        public static let closed = Code(description: "closed")
        /// The key or passphrase does not open this store.
        public static let wrongKey = Code(description: "wrongKey")
        /// The tree keeps no reduction, or one whose function is not known here.
        public static let missingReduction = Code(description: "missingReduction")
        /// A compaction of the store is running already.
        public static let compacting = Code(description: "compacting")
        /// The caller asked for the work to stop.
        public static let cancelled = Code(description: "cancelled")
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for the person who can mend it. It never holds keys, values or secrets.
    public let message: String
    /// What the system answered, where the failure came from there.
    public let cause: (any Error)?

    /// An error of the given kind.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The sentence.
    public var description: String { message }
}

/// Where a file is damaged and how: the cause of an error of code ``StoreError/Code/damaged``.
public struct Damage: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where in the file, in bytes from its start.
    public let offset: UInt64
    /// What is wrong there, as part of a sentence.
    public let what: String

    /// What is wrong and where, as a sentence.
    public var description: String { "At byte \(offset): \(what)." }
}

extension StoreError {
    /// The public face of a failed call to the medium.
    init(_ error: FileError) {
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .alreadyExists: .alreadyExists
            case .noSpace: .noSpace
            case .permissionDenied: .permissionDenied
            case .locked, .inherited: .locked
            case .notAFile: .notAStore
            case .inputOutput, .interrupted, .noMemory, .other: .inputOutput
            }
        self.init(code, error.description, cause: error)
    }

    /// After a failed sync, which is never repeated: what the medium then holds is unknown.
    init(syncFailed error: FileError) {
        self.init(
            .writerFailed,
            "\(StoreError(error).message) What the file holds of the last commits is unknown until the store is opened "
                + "again; nothing more is written until then.",
            cause: error)
    }

    /// Damage found at `offset` of the file `path`.
    static func damaged(_ what: String, at offset: UInt64, in path: String) -> StoreError {
        StoreError(
            .damaged,
            "\(path) is damaged: \(what) at offset \(offset). "
                + "Check it to see how far the damage goes; salvage writes what is readable into a new file.",
            cause: Damage(offset: offset, what: what))
    }
}

/// Runs a call to the medium and gives its failure the store's face.
@inline(__always)
func fileCall<R>(_ body: () throws(FileError) -> R) throws(StoreError) -> R {
    do throws(FileError) {
        return try body()
    } catch {
        throw StoreError(error)
    }
}
