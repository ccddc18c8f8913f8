/// A running hash of everything that was asked of a medium: two runs with the same value did the same.
///
/// Not Swift's `Hasher`, whose seed differs from process to process.
struct TraceHash: Equatable, Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func mix(_ word: UInt64) {
        value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        mix(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        while offset < bytes.count {
            mix(UInt64(unsafe bytes[offset]))
            offset += 1
        }
    }

    mutating func mix(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in unsafe mix(UnsafeRawBufferPointer(utf8)) }
    }
}
