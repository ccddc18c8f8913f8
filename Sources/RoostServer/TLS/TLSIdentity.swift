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
