/// XXH3 with 64 bits, the default secret and no seed, of Yann Collet's "xxHash fast digest algorithm" specification,
/// version 0.2.0; also described in draft-josefsson-xxhash.
///
/// Its multiplications don't wait for each other and fit vectors.
package struct XXH3: Sendable {
    private typealias Lanes = SIMD8<UInt64>

    private var lanes = XXH3.start
    private var total = 0

    package init() {}

    /// The hash of `bytes` in one go.
    package static func hash(_ bytes: ByteView) -> UInt64 {
        unsafe withSecret { secret in
            if bytes.count > 240 { return unsafe finish(start, 0, bytes, secret) }
            if bytes.count > 128 { return unsafe hash(upTo240: bytes, secret) }
            if bytes.count > 16 { return unsafe hash(upTo128: bytes, secret) }
            return unsafe hash(upTo16: bytes, secret)
        }
    }

    /// Bytes that are hashed at once between two mixings of the lanes.
    package static let blockLength = 1024

    /// Adds `blocks` to what is hashed: a multiple of ``blockLength``, after which more bytes must follow.
    package mutating func update(_ blocks: ByteView) {
        precondition(blocks.count % XXH3.blockLength == 0)
        total += blocks.count
        unsafe XXH3.withSecret { unsafe XXH3.add(blocks.base, blocks.count / XXH3.blockLength, &lanes, $0) }
    }

    /// The hash of everything added and then `rest`, the last 64 bytes or more of an input of more than 240.
    package func finalize(_ rest: ByteView) -> UInt64 {
        precondition(rest.count >= 64 && total + rest.count > 240)
        return unsafe XXH3.withSecret { unsafe XXH3.finish(lanes, total, rest, $0) }
    }

    /// Scrambles `hash` so that each bit of it has a say in each bit of the result; no two results are the same.
    @inline(__always) package static func avalanche(_ hash: UInt64) -> UInt64 {
        let mixed = (hash ^ (hash &>> 37)) &* 0x1656_6791_9E37_79F9
        return mixed ^ (mixed &>> 32)
    }
}

// MARK: - More than 240 bytes

extension XXH3 {
    private static var start: Lanes {
        Lanes(0xC2B2_AE3D, prime1, prime2, prime3, prime4, 0x85EB_CA77, 0x27D4_EB2F_1656_67C5, 0x9E37_79B1)
    }

    @inline(never) private static func finish(
        _ start: Lanes, _ total: Int, _ rest: ByteView, _ secret: UnsafeRawPointer
    ) -> UInt64 {
        var lanes = start
        let blocks = (rest.count &- 1) / blockLength
        unsafe add(rest.base, blocks, &lanes, secret)
        var sums = Lanes()
        let last = unsafe rest.base + blocks &* blockLength
        for stripe in 0..<(rest.count &- 1) % blockLength / 64 {
            unsafe add(last + stripe &* 64, secret + stripe &* 8, &lanes, &sums)
        }
        // The last 64 bytes, some of them perhaps for the second time.
        unsafe add(rest.base + (rest.count &- 64), secret + 121, &lanes, &sums)
        lanes = lanes &+ neighbours(of: sums)
        return unsafe merge(lanes, UInt64(total &+ rest.count), secret)
    }

    @inline(__always) private static func add(
        _ bytes: UnsafeRawPointer, _ blocks: Int, _ lanes: inout Lanes, _ secret: UnsafeRawPointer
    ) {
        for block in 0..<blocks {
            var sums = Lanes()
            for stripe in 0..<16 {
                let place = block &* blockLength &+ stripe &* 64
                unsafe add(bytes + place, secret + stripe &* 8, &lanes, &sums)
            }
            lanes = lanes &+ neighbours(of: sums)
            let mixed = unsafe lanes ^ (lanes &>> Lanes(repeating: 47)) ^ words(secret + 128)
            lanes = mixed &* Lanes(repeating: 0x9E37_79B1)
        }
    }

    /// Multiplies the halves of the words of 64 bytes after XOR with the secret, and adds the words themselves to `sums`, which the
    /// neighbours' lanes get in the end: nothing is lost where a half is zero. Unchecked: the callers' views have these bytes.
    @inline(__always) private static func add(
        _ stripe: UnsafeRawPointer, _ secret: UnsafeRawPointer, _ lanes: inout Lanes, _ sums: inout Lanes
    ) {
        let plain = unsafe words(stripe)
        let keyed = unsafe plain ^ words(secret)
        sums = sums &+ plain
        lanes = lanes &+ (keyed & Lanes(repeating: 0xFFFF_FFFF)) &* (keyed &>> Lanes(repeating: 32))
    }

    @inline(__always) private static func neighbours(of sums: Lanes) -> Lanes {
        Lanes(sums[1], sums[0], sums[3], sums[2], sums[5], sums[4], sums[7], sums[6])
    }

    /// As they stand in memory: Swift's processors are little-endian.
    @inline(__always) private static func words(_ base: UnsafeRawPointer) -> Lanes {
        unsafe base.loadUnaligned(as: Lanes.self)
    }

    @inline(__always)
    private static func merge(_ lanes: Lanes, _ total: UInt64, _ secret: UnsafeRawPointer) -> UInt64 {
        let ab = unsafe fold(lanes[0] ^ word(secret, 11), lanes[1] ^ word(secret, 19))
        let cd = unsafe fold(lanes[2] ^ word(secret, 27), lanes[3] ^ word(secret, 35))
        let ef = unsafe fold(lanes[4] ^ word(secret, 43), lanes[5] ^ word(secret, 51))
        let gh = unsafe fold(lanes[6] ^ word(secret, 59), lanes[7] ^ word(secret, 67))
        return avalanche(total &* prime1 &+ ab &+ cd &+ ef &+ gh)
    }
}

// MARK: - Up to 240 bytes

extension XXH3 {
    private static func hash(upTo240 bytes: ByteView, _ secret: UnsafeRawPointer) -> UInt64 {
        let (base, count) = unsafe (bytes.base, bytes.count)
        var hash = UInt64(count) &* prime1
        for part in 0..<8 { unsafe hash = hash &+ mix(base + part &* 16, secret + part &* 16) }
        hash = avalanche(hash)
        for part in 8..<count / 16 {
            unsafe hash = hash &+ mix(base + part &* 16, secret + (part &* 16 &- 125))
        }
        return unsafe avalanche(hash &+ mix(base + (count &- 16), secret + 119))
    }

    /// From both ends to the middle, where the parts of an uneven length overlap.
    private static func hash(upTo128 bytes: ByteView, _ secret: UnsafeRawPointer) -> UInt64 {
        let (base, count) = unsafe (bytes.base, bytes.count)
        var hash = UInt64(count) &* prime1
        for part in 0...(count &- 1) / 32 {
            unsafe hash = hash &+ mix(base + part &* 16, secret + part &* 32)
            unsafe hash = hash &+ mix(base + (count &- part &* 16 &- 16), secret + (part &* 32 &+ 16))
        }
        return avalanche(hash)
    }

    private static func hash(upTo16 bytes: ByteView, _ secret: UnsafeRawPointer) -> UInt64 {
        let count = bytes.count
        if count > 8 {
            let low = unsafe bytes.load(UInt64.self, at: 0) ^ word(secret, 24) ^ word(secret, 32)
            let high = unsafe bytes.load(UInt64.self, at: count &- 8) ^ word(secret, 40) ^ word(secret, 48)
            return avalanche(UInt64(count) &+ low.byteSwapped &+ high &+ fold(low, high))
        }
        if count >= 4 {
            let (first, last) = (bytes.load(UInt32.self, at: 0), bytes.load(UInt32.self, at: count &- 4))
            var hash = unsafe (UInt64(first) << 32 | UInt64(last)) ^ word(secret, 8) ^ word(secret, 16)
            hash ^= (hash << 49 | hash >> 15) ^ (hash << 24 | hash >> 40)
            hash = hash &* 0x9FB2_1C65_1E98_DF25
            hash = (hash ^ ((hash >> 35) &+ UInt64(count))) &* 0x9FB2_1C65_1E98_DF25
            return hash ^ (hash >> 28)
        }
        if count > 0 {
            let ends = UInt64(bytes[count &- 1]) | UInt64(bytes[0]) << 16
            let all = ends | UInt64(count) << 8 | UInt64(bytes[count / 2]) << 24
            let words = unsafe word(secret, 0)
            return longAvalanche(all ^ (words & 0xFFFF_FFFF) ^ (words >> 32))
        }
        return unsafe longAvalanche(word(secret, 56) ^ word(secret, 64))
    }

    /// The 16 bytes at `bytes` mixed with those at `secret`. Unchecked: the callers' lengths are those of their names.
    @inline(__always)
    private static func mix(_ bytes: UnsafeRawPointer, _ secret: UnsafeRawPointer) -> UInt64 {
        unsafe fold(word(bytes, 0) ^ word(secret, 0), word(bytes, 8) ^ word(secret, 8))
    }

    /// XXH64's last step.
    private static func longAvalanche(_ hash: UInt64) -> UInt64 {
        let once = (hash ^ (hash >> 33)) &* prime2
        let twice = (once ^ (once >> 29)) &* prime3
        return twice ^ (twice >> 32)
    }
}

// MARK: - Constants

extension XXH3 {
    private static var prime1: UInt64 { 0x9E37_79B1_85EB_CA87 }
    private static var prime2: UInt64 { 0xC2B2_AE3D_27D4_EB4F }
    private static var prime3: UInt64 { 0x1656_67B1_9E37_79F9 }
    private static var prime4: UInt64 { 0x85EB_CA77_C2B2_AE63 }

    @inline(__always) private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.low ^ product.high
    }

    @inline(__always) private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The specification's default secret of 192 bytes.
    private static let secret: [UInt8] = [
        0xB8, 0xFE, 0x6C, 0x39, 0x23, 0xA4, 0x4B, 0xBE, 0x7C, 0x01, 0x81, 0x2C, 0xF7, 0x21, 0xAD, 0x1C,
        0xDE, 0xD4, 0x6D, 0xE9, 0x83, 0x90, 0x97, 0xDB, 0x72, 0x40, 0xA4, 0xA4, 0xB7, 0xB3, 0x67, 0x1F,
        0xCB, 0x79, 0xE6, 0x4E, 0xCC, 0xC0, 0xE5, 0x78, 0x82, 0x5A, 0xD0, 0x7D, 0xCC, 0xFF, 0x72, 0x21,
        0xB8, 0x08, 0x46, 0x74, 0xF7, 0x43, 0x24, 0x8E, 0xE0, 0x35, 0x90, 0xE6, 0x81, 0x3A, 0x26, 0x4C,
        0x3C, 0x28, 0x52, 0xBB, 0x91, 0xC3, 0x00, 0xCB, 0x88, 0xD0, 0x65, 0x8B, 0x1B, 0x53, 0x2E, 0xA3,
        0x71, 0x64, 0x48, 0x97, 0xA2, 0x0D, 0xF9, 0x4E, 0x38, 0x19, 0xEF, 0x46, 0xA9, 0xDE, 0xAC, 0xD8,
        0xA8, 0xFA, 0x76, 0x3F, 0xE3, 0x9C, 0x34, 0x3F, 0xF9, 0xDC, 0xBB, 0xC7, 0xC7, 0x0B, 0x4F, 0x1D,
        0x8A, 0x51, 0xE0, 0x4B, 0xCD, 0xB4, 0x59, 0x31, 0xC8, 0x9F, 0x7E, 0xC9, 0xD9, 0x78, 0x73, 0x64,
        0xEA, 0xC5, 0xAC, 0x83, 0x34, 0xD3, 0xEB, 0xC3, 0xC5, 0x81, 0xA0, 0xFF, 0xFA, 0x13, 0x63, 0xEB,
        0x17, 0x0D, 0xDD, 0x51, 0xB7, 0xF0, 0xDA, 0x49, 0xD3, 0x16, 0x55, 0x26, 0x29, 0xD4, 0x68, 0x9E,
        0x2B, 0x16, 0xBE, 0x58, 0x7D, 0x47, 0xA1, 0xFC, 0x8F, 0xF8, 0xB8, 0xD1, 0x7A, 0xD0, 0x31, 0xCE,
        0x45, 0xCB, 0x3A, 0x8F, 0x95, 0x16, 0x04, 0x28, 0xAF, 0xD7, 0xFB, 0xCA, 0xBB, 0x4B, 0x40, 0x7E,
    ]

    @inline(__always) private static func withSecret<R>(_ body: (UnsafeRawPointer) -> R) -> R {
        unsafe secret.withUnsafeBytes { unsafe body($0.baseAddress!) }
    }
}
