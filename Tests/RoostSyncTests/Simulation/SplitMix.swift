import Synchronization

/// Steele, Lea and Flood's generator (2014): everything in a simulation follows from its seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// The same for several tasks.
final class SharedRandom: Sendable {
    private let state: Mutex<SplitMix>

    init(_ seed: UInt64) { state = Mutex(SplitMix(seed)) }

    func next() -> UInt64 { state.withLock { $0.next() } }

    func next(below bound: Int) -> Int { state.withLock { $0.next(below: bound) } }

    /// Whether something happens that does so once in `count` times.
    func happens(onceIn count: Int) -> Bool { next(below: count) == 0 }
}
