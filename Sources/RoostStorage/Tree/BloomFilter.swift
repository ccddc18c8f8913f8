import RoostBytes

/// Says of a key that it was never added, or that it may have been, by two functions (B. H. Bloom, "Space/Time
/// Trade-offs in Hash Coding with Allowable Errors", 1970).
struct BloomFilter {
    /// 8 KiB: with a thousand keys, one in a thousand others seems to have been added.
    private static let bitCount: UInt64 = 1 << 16
    private var words = [UInt64](repeating: 0, count: Int(bitCount / 64))

    mutating func add(_ key: ByteView) {
        let (first, second) = BloomFilter.bits(key)
        words[Int(first / 64)] |= 1 << (first % 64)
        words[Int(second / 64)] |= 1 << (second % 64)
    }

    func mayContain(_ key: ByteView) -> Bool {
        let (first, second) = BloomFilter.bits(key)
        return words[Int(first / 64)] >> (first % 64) & words[Int(second / 64)] >> (second % 64) & 1 == 1
    }

    private static func bits(_ key: ByteView) -> (UInt64, UInt64) {
        let hash = XXH3.hash(key)
        return (hash % bitCount, (hash >> 32) % bitCount)
    }
}
