/// The documents of a run, all of them a function of the seed: nothing is stored, so generating them costs the
/// timed loops a few nanoseconds, the same for every contender.
///
/// A value is a slice of a pool of random bytes, which no compressor shortens: slices repeat only after the
/// whole pool, far beyond any contender's block or compression window. Values are passed as pointers into the
/// pool, so a contender copies only what its own design copies.
@safe final class Corpus: Sendable {
    /// Documents in the loaded store.
    let count: Int
    /// Bytes of each value.
    let valueSize: Int
    let seed: UInt64
    /// The order in which the random load inserts the documents.
    let randomOrder: Permutation

    private static let poolSize = 4 << 20
    private static let wordsPerVersion = 40_503
    private let stride: UInt64
    /// Written in `init` only, so it may be read from any thread.
    nonisolated(unsafe) private let pool: UnsafeMutableRawBufferPointer

    init(count: Int, valueSize: Int, seed: UInt64) {
        self.count = count
        self.valueSize = valueSize
        self.seed = seed
        randomOrder = Permutation(count: count, seed: seed)
        stride = UInt64.max / UInt64(count) & ~1
        unsafe pool = .allocate(byteCount: (Self.poolSize + valueSize + 7) & ~7, alignment: 64)
        var words = SplitMix64(seed: seed)
        for offset in Swift.stride(from: 0, to: unsafe pool.count, by: 8) {
            unsafe pool.storeBytes(of: words.next(), toByteOffset: offset, as: UInt64.self)
        }
    }

    deinit {
        unsafe pool.deallocate()
    }

    /// Bytes of one document, ID and value: what "per byte of document" divides by.
    var documentSize: Int { DocumentID.size + valueSize }

    /// The ID of document `index`: ascending with the index, and always even.
    @inline(__always)
    func id(of index: Int) -> DocumentID {
        let jitter = SplitMix64.mix(UInt64(index) ^ seed) % stride
        return DocumentID(number: (UInt64(index) &* stride &+ jitter) & ~1)
    }

    /// The ID of the `index`-th document that the load does not insert: anywhere in the order, and always odd.
    @inline(__always)
    func freshID(_ index: Int) -> DocumentID {
        DocumentID(number: SplitMix64.mix(UInt64(index) &+ ~seed) | 1)
    }

    /// The value of document `index` after its `version`-th update (0: as loaded), ``valueSize`` bytes.
    @inline(__always)
    func value(of index: Int, version: Int) -> UnsafeRawBufferPointer {
        let offset = (index &* valueSize &+ version &* Self.wordsPerVersion &* 8) % Self.poolSize
        return unsafe UnsafeRawBufferPointer(rebasing: pool[offset..<offset &+ valueSize])
    }
}
