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
