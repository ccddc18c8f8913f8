/// The result of a hash function or message authentication code: 16, 20 or 32 bytes.
///
/// Comparison takes the same time wherever the digests differ.
package struct Digest: Hashable, Sendable, BitwiseCopyable, CustomStringConvertible {
    private var storage: SIMD32<UInt8>
    /// Length in bytes.
    package let byteCount: Int

    /// Zero bytes that `write` fills in.
    init(byteCount: Int, filledBy write: (UnsafeMutableRawPointer) -> Void) {
        storage = .zero
        self.byteCount = byteCount
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe write($0.baseAddress!) }
    }

    /// Lends the bytes to `body`, which must not keep the pointer.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe Swift.withUnsafeBytes(of: storage) { (bytes) throws(Failure) in
            unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]))
        }
    }

    /// The digest's bytes.
    package var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }

    package static func == (a: Digest, b: Digest) -> Bool {
        unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { b in unsafe constantTimeEqual(a, b) } }
    }

    package func hash(into hasher: inout Hasher) {
        unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Lowercase hexadecimal digits.
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
