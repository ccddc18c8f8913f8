import RoostBytes
import RoostStorage

/// Sequences as keys: eight bytes, most significant first.
enum Sequences {
    static func key(_ number: UInt64) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 8)
        for index in 0..<8 { key[index] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index)) }
        return key
    }

    /// Calls `body` with the key of a number, which is valid during the call.
    static func withKey<R>(
        _ number: UInt64, _ body: (ByteView) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var key = number.bigEndian
        return try unsafe withUnsafeBytes(of: &key) { (key) throws(StoreError) in
            unsafe try body(ByteView(key))
        }
    }

    static func number(_ key: ByteView) -> UInt64 {
        key.count == 8 ? key.load(UInt64.self, at: 0).byteSwapped : 0
    }
}
