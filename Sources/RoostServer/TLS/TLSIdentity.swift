/// What a server proves with who it is: its certificates and their private key.
///
/// Give it to ``ServerOptions/identity``. On Linux it takes OpenSSL's libssl, and the package's trait `TLS`, which is on by
/// default. It may be used from any thread, by several servers.
public final class TLSIdentity: Sendable {
    #if os(Linux) && TLS
        private let context: OpenSSLContext
    #endif

    /// Whether this program was built with TLS.
    public static var isAvailable: Bool {
        #if os(Linux) && TLS
            true
        #else
            false
        #endif
    }

    /// Reads an identity from files in PEM.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of the server's certificate, with those after it that lead to one which clients know.
    ///   - keyFile: The path of its private key, not encrypted. What was read of it is wiped.
    /// - Throws: ``TLSError``, which says what is wrong with which file.
    public init(certificateFile: String, keyFile: String) throws(TLSError) {
        #if os(Linux) && TLS
            context = try OpenSSLContext(certificateFile, keyFile)
        #else
            throw TLSError(
                .unavailable,
                "This program was built without TLS. On Linux, install libssl-dev and build it with the trait TLS."
            )
        #endif
    }

    /// What encrypts one connection; `nil` when there is no memory for it.
    func makeCipher() -> (any ChannelCipher)? {
        #if os(Linux) && TLS
            OpenSSLSession(context)
        #else
            nil
        #endif
    }
}

#if os(Linux) && TLS
    import CRoostOpenSSL

    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The bytes of a file, which are wiped when they are no longer needed.
    @safe final class PEMFile {
        private static let mostBytes = 1 << 20

        private let bytes: UnsafeMutableRawBufferPointer
        private var count = 0

        init(_ path: String) throws(TLSError) {
            unsafe bytes = .allocate(byteCount: Self.mostBytes, alignment: 1)
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw Self.failure(path) }
            defer { _ = close(descriptor) }
            while count < Self.mostBytes {
                let got = unsafe read(descriptor, bytes.baseAddress! + count, Self.mostBytes - count)
                guard got != 0 else { return }
                guard got > 0 else { throw Self.failure(path) }
                count += got
            }
            throw TLSError(.unreadable, "\(path) is larger than certificates and keys are.")
        }

        deinit {
            unsafe OPENSSL_cleanse(bytes.baseAddress, count)
            unsafe bytes.deallocate()
        }

        private static func failure(_ path: String) -> TLSError {
            let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
            return TLSError(.unreadable, "\(path) can't be read: \(reason).")
        }

        /// OpenSSL's view of the bytes, which the caller frees before this goes.
        func makeBIO() -> OpaquePointer? { unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(count)) }
    }
#endif

/// Why a server can't prove who it is.
public struct TLSError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failures. More may come.
    public struct Code: Sendable, Equatable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The program was built without TLS.
        public static let unavailable = Self("unavailable")
        /// A file is not there, may not be read, or is too large.
        public static let unreadable = Self("unreadable")
        /// A file holds no certificate, or one that is broken or too weak.
        public static let badCertificate = Self("badCertificate")
        /// A file holds no private key, or one that is broken.
        public static let badKey = Self("badKey")
        /// The private key is encrypted.
        public static let encryptedKey = Self("encryptedKey")
        /// The private key is that of another certificate.
        public static let otherKey = Self("otherKey")
    }

    /// What kind of failure it is.
    public let code: Code
    /// What is wrong, as a sentence. Never holds anything of the key.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The sentence.
    public var description: String { message }
}
