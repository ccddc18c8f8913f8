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
