#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Random bytes from the operating system's generator, fit for keys, salts and nonces.
package enum SystemRandom {
    /// Fills `buffer` with random bytes. Blocks only while the system's generator has not been seeded yet, early
    /// during boot. Any thread may call it at any time.
    ///
    /// Traps if the system has no random source at all: nothing secure can be done without one.
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = buffer.baseAddress else { return }
        #if canImport(Darwin)
            unsafe arc4random_buf(start, buffer.count)
        #else
            // The call hands out at most 256 bytes at a time.
            for done in stride(from: 0, to: buffer.count, by: 256) {
                guard unsafe getentropy(start + done, min(256, buffer.count - done)) == 0 else {
                    fatalError("The operating system has no source of random numbers (getentropy failed).")
                }
            }
        #endif
    }

    /// `count` random bytes.
    package static func bytes(count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            unsafe fill(
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]))
            initializedCount = count
        }
    }
}

// MARK: - RandomText

/// Random names, from the system's generator.
package enum RandomText {
    /// As many random bytes, as lowercase hexadecimal digits.
    package static func hexadecimal(bytes count: Int) -> String { text(SystemRandom.bytes(count: count)) }

    /// Bytes as lowercase hexadecimal digits.
    package static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes that hexadecimal digits stand for; `nil` for anything else.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard digits[index] != UInt8(ascii: "+"), digits[index] != UInt8(ascii: "-"),
                let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
