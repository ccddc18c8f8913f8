/// AES-256 over runs of whole blocks in portable constant-time code. `output` may be the same memory as `input`, but
/// must not overlap it otherwise.
enum PortableAES {
    typealias Slices = BitslicedBlocks<NativeBitPlane>

    /// Encrypts one block.
    static func encrypt(_ block: Block128, _ schedule: borrowing KeySchedule) -> Block128 {
        var slices = Slices(repeating: block)
        unsafe slices.encrypt(schedule.bitsliced)
        return slices.blocks().0
    }

    /// Decrypts one block.
    static func decrypt(_ block: Block128, _ schedule: borrowing KeySchedule) -> Block128 {
        var slices = Slices(repeating: block)
        unsafe slices.decrypt(schedule.bitsliced)
        return slices.blocks().0
    }

    /// Counter mode, where only the last 32 bits of `counter` count; it is left at the next unused value.
    static func applyCounter(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
        _ counter: inout Block128, _ schedule: borrowing KeySchedule
    ) {
        var start = counter
        for first in stride(from: 0, to: blockCount, by: 8) {
            let stream = unsafe keystream(start, schedule.bitsliced)
            start.increment32(by: 8)
            let source = unsafe input + 16 * first
            let target = unsafe output + 16 * first
            if first + 8 <= blockCount {
                unsafe add(stream, to: source, target)
            } else {
                unsafe addSome(stream, to: source, target, blockCount: blockCount - first)
            }
        }
        counter.increment32(by: UInt32(truncatingIfNeeded: blockCount))
    }

    /// The encryption of eight successive counters.
    @inline(__always)
    private static func keystream(
        _ counter: Block128, _ keys: UnsafePointer<Slices>
    ) -> Slices.Blocks {
        var slices = Slices(
            (
                counter, counter.counting(1), counter.counting(2), counter.counting(3), counter.counting(4),
                counter.counting(5), counter.counting(6), counter.counting(7)
            ))
        unsafe slices.encrypt(keys)
        return slices.blocks()
    }

    @inline(__always)
    private static func add(
        _ stream: Slices.Blocks, to source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer
    ) {
        unsafe (stream.0 ^ Block128(loading: source)).store(to: target)
        unsafe (stream.1 ^ Block128(loading: source + 16)).store(to: target + 16)
        unsafe (stream.2 ^ Block128(loading: source + 32)).store(to: target + 32)
        unsafe (stream.3 ^ Block128(loading: source + 48)).store(to: target + 48)
        unsafe (stream.4 ^ Block128(loading: source + 64)).store(to: target + 64)
        unsafe (stream.5 ^ Block128(loading: source + 80)).store(to: target + 80)
        unsafe (stream.6 ^ Block128(loading: source + 96)).store(to: target + 96)
        unsafe (stream.7 ^ Block128(loading: source + 112)).store(to: target + 112)
    }

    /// The first `blockCount` of eight blocks.
    private static func addSome(
        _ stream: Slices.Blocks, to source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer,
        blockCount: Int
    ) {
        var stream = stream
        unsafe withUnsafeBytes(of: &stream) { stream in
            for offset in stride(from: 0, to: 16 * blockCount, by: 16) {
                let key = unsafe Block128(loading: stream.baseAddress! + offset)
                unsafe (key ^ Block128(loading: source + offset)).store(to: target + offset)
            }
        }
        wipe(&stream)
    }

    /// Cipher block chaining; `chain` is the initialisation vector and becomes the last block of ciphertext. Each
    /// block depends on the one before, so seven eighths of the width go unused: where there are eight chains,
    /// ``encryptEightChains(_:_:stride:blockCount:_:_:)`` uses all.
    static func encryptChain(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
        _ chain: inout Block128, _ schedule: borrowing KeySchedule
    ) {
        for index in 0..<blockCount {
            chain = unsafe encrypt(chain ^ Block128(loading: input + 16 * index), schedule)
            unsafe chain.store(to: output + 16 * index)
        }
    }

    /// Eight chains of `blockCount` blocks, side by side; the next one begins `stride` bytes after the one before.
    /// `chains` are their initialisation vectors.
    static func encryptEightChains(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, stride: Int, blockCount: Int,
        _ chains: Slices.Blocks, _ schedule: borrowing KeySchedule
    ) {
        var c = chains
        for index in 0..<blockCount {
            let source = unsafe input + 16 * index
            let target = unsafe output + 16 * index
            unsafe c.0 = c.0 ^ Block128(loading: source)
            unsafe c.1 = c.1 ^ Block128(loading: source + stride)
            unsafe c.2 = c.2 ^ Block128(loading: source + 2 * stride)
            unsafe c.3 = c.3 ^ Block128(loading: source + 3 * stride)
            unsafe c.4 = c.4 ^ Block128(loading: source + 4 * stride)
            unsafe c.5 = c.5 ^ Block128(loading: source + 5 * stride)
            unsafe c.6 = c.6 ^ Block128(loading: source + 6 * stride)
            unsafe c.7 = c.7 ^ Block128(loading: source + 7 * stride)
            var slices = Slices(c)
            unsafe slices.encrypt(schedule.bitsliced)
            c = slices.blocks()
            unsafe c.0.store(to: target)
            unsafe c.1.store(to: target + stride)
            unsafe c.2.store(to: target + 2 * stride)
            unsafe c.3.store(to: target + 3 * stride)
            unsafe c.4.store(to: target + 4 * stride)
            unsafe c.5.store(to: target + 5 * stride)
            unsafe c.6.store(to: target + 6 * stride)
            unsafe c.7.store(to: target + 7 * stride)
        }
    }

    /// The inverse of ``encryptChain(_:_:blockCount:_:_:)``.
    static func decryptChain(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
        _ chain: inout Block128, _ schedule: borrowing KeySchedule
    ) {
        var index = 0
        while index + 8 <= blockCount {
            unsafe decryptEight(input + 16 * index, output + 16 * index, &chain, schedule.bitsliced)
            index += 8
        }
        for index in index..<blockCount {
            let block = unsafe Block128(loading: input + 16 * index)
            unsafe (decrypt(block, schedule) ^ chain).store(to: output + 16 * index)
            chain = block
        }
    }

    @inline(__always)
    private static func decryptEight(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ chain: inout Block128,
        _ keys: UnsafePointer<Slices>
    ) {
        let (a, b) = unsafe (Block128(loading: source), Block128(loading: source + 16))
        let (c, d) = unsafe (Block128(loading: source + 32), Block128(loading: source + 48))
        let (e, f) = unsafe (Block128(loading: source + 64), Block128(loading: source + 80))
        let (g, h) = unsafe (Block128(loading: source + 96), Block128(loading: source + 112))
        var slices = Slices((a, b, c, d, e, f, g, h))
        unsafe slices.decrypt(keys)
        let plain = slices.blocks()
        unsafe (plain.0 ^ chain).store(to: target)
        unsafe (plain.1 ^ a).store(to: target + 16)
        unsafe (plain.2 ^ b).store(to: target + 32)
        unsafe (plain.3 ^ c).store(to: target + 48)
        unsafe (plain.4 ^ d).store(to: target + 64)
        unsafe (plain.5 ^ e).store(to: target + 80)
        unsafe (plain.6 ^ f).store(to: target + 96)
        unsafe (plain.7 ^ g).store(to: target + 112)
        chain = h
    }
}
