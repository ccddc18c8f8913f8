import RoostBytes
import RoostCrypto
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

// MARK: - BlobDigest

/// What a blob is called: the digest of its content.
///
/// As text it is the algorithm and the digest in base64 (RFC 4648, with padding), as Couchbase Lite and CouchDB write
/// it: `sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=`.
package struct BlobDigest: Hashable, Sendable, CustomStringConvertible {
    /// The hash functions that blobs can be named by.
    package enum Algorithm: UInt8, Sendable, CaseIterable {
        case sha1 = 1
        case sha256 = 2

        /// The length of a digest in bytes.
        package var byteCount: Int { self == .sha1 ? 20 : 32 }

        var prefix: String { self == .sha1 ? "sha1-" : "sha256-" }
    }

    package let algorithm: Algorithm
    /// 20 or 32 bytes, the rest zero.
    private let words: SIMD32<UInt8>

    /// - Returns: `nil` unless there are as many bytes as the algorithm yields.
    package init?(_ algorithm: Algorithm, _ bytes: some Collection<UInt8>) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        var words = SIMD32<UInt8>.zero
        for (index, byte) in bytes.enumerated() { words[index] = byte }
        self.words = words
    }

    /// Reads `sha1-…` or `sha256-…`; `nil` for anything else, and for base64 that is not in its one canonical form.
    package init?(_ text: some StringProtocol) {
        for algorithm in Algorithm.allCases where text.hasPrefix(algorithm.prefix) {
            let encoded = text.utf8.dropFirst(algorithm.prefix.utf8.count)
            guard let bytes = Base64.decode(encoded), let digest = Self(algorithm, bytes),
                digest.description == text
            else { return nil }
            self = digest
            return
        }
        return nil
    }

    /// The digest of `content`.
    package init(of content: UnsafeRawBufferPointer, _ algorithm: Algorithm = .sha1) {
        var hasher = BlobHasher(algorithm, withMD5: false)
        unsafe hasher.update(content)
        self = hasher.finish().digest
    }

    /// The digest's bytes, 20 or 32.
    package var bytes: [UInt8] { (0..<algorithm.byteCount).map { words[$0] } }

    package var description: String { algorithm.prefix + Base64.encode(bytes) }
}

/// The running digests of what is written.
struct BlobHasher {
    private enum Content {
        case sha1(SHA1)
        case sha256(SHA256)
    }

    private var content: Content
    private var md5: MD5?

    init(_ algorithm: BlobDigest.Algorithm, withMD5: Bool) {
        content = algorithm == .sha1 ? .sha1(SHA1()) : .sha256(SHA256())
        md5 = withMD5 ? MD5() : nil
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch content {
        case .sha1(var hash):
            unsafe hash.update(bytes)
            content = .sha1(hash)
        case .sha256(var hash):
            unsafe hash.update(bytes)
            content = .sha256(hash)
        }
        unsafe md5?.update(bytes)
    }

    consuming func finish() -> (digest: BlobDigest, md5: [UInt8]?) {
        let digest =
            switch content {
            case .sha1(let hash): BlobDigest(.sha1, hash.finalize().bytes)
            case .sha256(let hash): BlobDigest(.sha256, hash.finalize().bytes)
            }
        guard let digest else { preconditionFailure("a hash function yields digests of its own length") }
        return (digest, md5?.finalize().bytes)
    }
}
