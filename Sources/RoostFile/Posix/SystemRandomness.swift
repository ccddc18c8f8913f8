/// The operating system's cryptographic generator (getentropy on Linux, arc4random_buf on Apple systems).
package struct SystemRandomness: Randomness {
    package init() {}

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        unsafe fillRandom(buffer)
    }
}
