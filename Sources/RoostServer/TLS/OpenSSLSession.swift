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
