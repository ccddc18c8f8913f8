/// Comparisons and loads of short byte sequences, eight bytes at a time.
enum ByteOrder {
    /// Compares as `memcmp` does, a prefix before what it is a prefix of: negative, zero or positive.
    @inline(__always)
    static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let shared = min(left.count, right.count)
        guard shared > 0, let a = left.baseAddress, let b = right.baseAddress else {
            return left.count &- right.count
        }
        var index = 0
        while index &+ 8 <= shared {
            let x = UInt64(bigEndian: unsafe a.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let y = UInt64(bigEndian: unsafe b.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if x != y { return x < y ? -1 : 1 }
            index &+= 8
        }
        while index < shared {
            let x = unsafe a.load(fromByteOffset: index, as: UInt8.self)
            let y = unsafe b.load(fromByteOffset: index, as: UInt8.self)
            if x != y { return x < y ? -1 : 1 }
            index &+= 1
        }
        return left.count &- right.count
    }

    /// The first eight bytes as a big-endian number, zeros behind a shorter sequence: sorts as the bytes do.
    @inline(__always)
    static func prefix(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let base = bytes.baseAddress else { return 0 }
        if bytes.count >= 8 {
            return UInt64(bigEndian: unsafe base.loadUnaligned(as: UInt64.self))
        }
        var result: UInt64 = 0
        for index in 0..<bytes.count {
            let byte = unsafe base.load(fromByteOffset: index, as: UInt8.self)
            result |= UInt64(byte) << UInt64(56 &- 8 &* index)
        }
        return result
    }
}

/// A string of at most 16 bytes as numbers: equal numbers mean equal strings, and one multiplication hashes it.
struct ShortString: Equatable {
    let first: UInt64
    let last: UInt64
    let count: UInt8

    static let maximumLength = 16

    /// The two loads overlap where the length is no multiple of theirs; that still covers every byte.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        let length = bytes.count
        assert(length <= Self.maximumLength)
        count = UInt8(truncatingIfNeeded: length)
        guard length > 0, let base = bytes.baseAddress else {
            (first, last) = (0, 0)
            return
        }
        if length >= 8 {
            unsafe first = base.loadUnaligned(as: UInt64.self)
            unsafe last = base.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
        } else if length >= 4 {
            unsafe first = UInt64(base.loadUnaligned(as: UInt32.self))
            unsafe last = UInt64(base.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self))
        } else {
            unsafe first =
                UInt64(base.load(as: UInt8.self)) | UInt64(
                    base.load(fromByteOffset: length / 2, as: UInt8.self)) << 8
            unsafe last = UInt64(base.load(fromByteOffset: length &- 1, as: UInt8.self))
        }
    }

    /// A hash of all bits. Callers bound their probing, so that colliding keys cost space, never time.
    @inline(__always)
    var hash: UInt64 {
        let product = (first ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(
            by: last ^ 0xD6E8_FEB8_6659_FD93 ^ UInt64(count) << 56)
        return product.high ^ product.low
    }
}
