import RoostBytes

/// Says of a key that it was never added, or that it may have been, by four functions (B. H. Bloom, "Space/Time
/// Trade-offs in Hash Coding with Allowable Errors", 1970): each is 16 bits of one hash.
struct BloomFilter {
    /// 8 KiB, a bit for each value of 16 bits: with a thousand keys, one in 80,000 others seems to have been added.
    private var words = [UInt64](repeating: 0, count: 1 << 16 / 64)

    mutating func add(_ key: ByteView) {
        var hash = XXH3.hash(key)
        for _ in 0..<4 {
            words[Int(hash & 0xffff) / 64] |= 1 << (hash % 64)
            hash >>= 16
        }
    }

    func mayContain(_ key: ByteView) -> Bool {
        var hash = XXH3.hash(key)
        for _ in 0..<4 {
            guard words[Int(hash & 0xffff) / 64] >> (hash % 64) & 1 == 1 else { return false }
            hash >>= 16
        }
        return true
    }
}
