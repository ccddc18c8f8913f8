#if os(Linux) && TLS
    import CRoostOpenSSL

    /// OpenSSL's end of one connection, between two buffers in memory.
    ///
    /// Unchecked: its calls come one after another, as ``ChannelCipher`` says.
    @safe final class OpenSSLSession: ChannelCipher, @unchecked Sendable {
        /// The most of one record.
        private static let pieceSize = 16 << 10

        private let session: OpaquePointer
        /// These belong to the session.
        private let input: OpaquePointer
        private let output: OpaquePointer
        /// After a failure OpenSSL may not be asked for an orderly end.
        private var isBroken = false
        private var isEstablished = false

        /// `nil` when there is no memory.
        init?(_ context: OpenSSLContext) {
            guard let session = unsafe context.makeSession() else { return nil }
            guard let input = unsafe BIO_new(BIO_s_mem()) else {
                unsafe SSL_free(session)
                return nil
            }
            guard let output = unsafe BIO_new(BIO_s_mem()) else {
                unsafe BIO_free(input)
                unsafe SSL_free(session)
                return nil
            }
            unsafe SSL_set_bio(session, input, output)
            unsafe SSL_set_accept_state(session)
            unsafe self.session = session
            unsafe self.input = input
            unsafe self.output = output
        }

        deinit { unsafe SSL_free(session) }

        func receive(_ bytes: [UInt8]) {
            // A buffer in memory takes all.
            let count = unsafe bytes.withUnsafeBytes {
                unsafe BIO_write(input, $0.baseAddress, Int32($0.count))
            }
            if count != bytes.count { isBroken = true }
        }

        func shakeHands() -> HandshakeState {
            guard !isBroken else { return .failed }
            ERR_clear_error()
            let status = unsafe SSL_do_handshake(session)
            guard status != 1 else {
                isEstablished = true
                return .done
            }
            return waits(after: status) ? .needsInput : .failed
        }

        func read() -> CipherInput {
            guard !isBroken else { return .ended }
            ERR_clear_error()
            var status: Int32 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
                status = unsafe SSL_read(session, buffer.baseAddress, Int32(buffer.count))
                count = max(0, Int(status))
            }
            if status > 0 { return .bytes(bytes) }
            return waits(after: status) ? .needsInput : .ended
        }

        /// Whether a call that did nothing may do more after more input.
        private func waits(after status: Int32) -> Bool {
            switch unsafe SSL_get_error(session, status) {
            case SSL_ERROR_WANT_READ: return true
            case SSL_ERROR_ZERO_RETURN: return false
            default:
                isBroken = true
                return false
            }
        }

        func write(_ bytes: ArraySlice<UInt8>) -> Bool {
            guard !isBroken, isEstablished else { return false }
            guard !bytes.isEmpty else { return true }
            ERR_clear_error()
            let status = unsafe bytes.withUnsafeBytes {
                unsafe SSL_write(session, $0.baseAddress, Int32($0.count))
            }
            if status != bytes.count { isBroken = true }
            return !isBroken
        }

        func finish() {
            guard isEstablished, !isBroken else { return }
            ERR_clear_error()
            unsafe SSL_shutdown(session)
        }

        func takeOutput() -> [UInt8] {
            unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
                count = max(0, Int(unsafe BIO_read(output, buffer.baseAddress, Int32(buffer.count))))
            }
        }
    }
#endif

#if os(Linux) && TLS
    import CRoostOpenSSL

    /// What all connections of an identity share: its certificates, its key, and what is permitted.
    ///
    /// Unchecked: OpenSSL's contexts may be used from any thread, and this one is not changed after it was made.
    @safe final class OpenSSLContext: @unchecked Sendable {
        private static let mostCertificates = 32

        private let context: OpaquePointer

        init(_ certificateFile: String, _ keyFile: String) throws(TLSError) {
            guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw Self.noMemory }
            unsafe self.context = context
            guard unsafe roost_ssl_restrict(context) == 1 else {
                throw TLSError(.unavailable, "OpenSSL does not offer what is needed: \(Self.reason).")
            }
            unsafe roost_ssl_speak_http(context)
            let certificates = try Self.certificates(in: certificateFile)
            let key = try unsafe Self.key(in: keyFile)
            defer { unsafe EVP_PKEY_free(key) }
            guard unsafe X509_check_private_key(certificates[0].x509, key) == 1 else {
                throw TLSError(
                    .otherKey,
                    "The key in \(keyFile) is not that of the first certificate in \(certificateFile).")
            }
            for (index, certificate) in certificates.enumerated() {
                let status =
                    unsafe index == 0
                    ? SSL_CTX_use_certificate(context, certificate.x509)
                    : roost_ssl_add_to_chain(context, certificate.x509)
                guard status == 1 else {
                    throw TLSError(
                        .badCertificate,
                        "Certificate \(index + 1) in \(certificateFile) can't be used: \(Self.reason).")
                }
            }
            guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1 else {
                throw TLSError(.badKey, "The key in \(keyFile) can't be used: \(Self.reason).")
            }
        }

        deinit { unsafe SSL_CTX_free(context) }

        /// OpenSSL's part of a connection, which the caller frees; `nil` when there is no memory.
        func makeSession() -> OpaquePointer? { unsafe SSL_new(context) }

        /// The certificates in a file, one at least.
        private static func certificates(in path: String) throws(TLSError) -> [Certificate] {
            let file = try PEMFile(path)
            guard let bytes = unsafe file.makeBIO() else { throw noMemory }
            defer { unsafe BIO_free(bytes) }
            var found: [Certificate] = []
            ERR_clear_error()
            while found.count < mostCertificates, let x509 = unsafe PEM_read_bio_X509(bytes, nil, nil, nil) {
                found.append(unsafe Certificate(x509))
            }
            // The end of the file is an error, too: no line that begins something.
            let error = ERR_peek_last_error()
            let isEnd = error == 0 || ERR_GET_REASON(error) == PEM_R_NO_START_LINE
            if !found.isEmpty, isEnd { return found }
            throw TLSError(
                .badCertificate,
                isEnd
                    ? "\(path) holds no certificate in PEM (-----BEGIN CERTIFICATE-----)."
                    : "A certificate in \(path) is broken: \(reason).")
        }

        /// The private key in a file, which the caller frees.
        private static func key(in path: String) throws(TLSError) -> OpaquePointer {
            let file = try PEMFile(path)
            guard let bytes = unsafe file.makeBIO() else { throw noMemory }
            defer { unsafe BIO_free(bytes) }
            var isEncrypted: Int32 = 0
            ERR_clear_error()
            if let key = unsafe roost_pem_read_key(bytes, &isEncrypted) { return unsafe key }
            guard isEncrypted == 0 else {
                throw TLSError(
                    .encryptedKey,
                    "The key in \(path) is encrypted. Decrypt it (openssl pkey) into a file that only the server may read."
                )
            }
            throw TLSError(.badKey, "\(path) holds no private key in PEM, or a broken one.")
        }

        private static var noMemory: TLSError { TLSError(.unavailable, "OpenSSL has no memory.") }

        /// Why the last call failed, in OpenSSL's words.
        private static var reason: String {
            unsafe ERR_reason_error_string(ERR_peek_last_error()).map { unsafe String(cString: $0) }
                ?? "no reason given"
        }
    }

    /// A certificate of OpenSSL's, which goes with the value.
    @safe private final class Certificate {
        let x509: OpaquePointer

        init(_ x509: OpaquePointer) { unsafe self.x509 = x509 }

        deinit { unsafe X509_free(x509) }
    }
#endif
