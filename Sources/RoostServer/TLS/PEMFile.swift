#if os(Linux) && TLS
    import CRoostOpenSSL

    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The bytes of a file, which are wiped when nobody needs them any more.
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
