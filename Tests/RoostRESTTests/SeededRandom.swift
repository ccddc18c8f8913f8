/// Random numbers that are the same for every run of a seed (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    /// A third of them.
    mutating func some(_ names: [String]) -> [String] { names.filter { _ in next() % 3 == 0 } }
}
