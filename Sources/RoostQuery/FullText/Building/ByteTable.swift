import RoostBytes

/// Byte strings, each once, by numbers from 0 on.
struct ByteTable {
    private var slots: [UInt32]
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private static let free = UInt32.max

    init() { slots = [UInt32](repeating: Self.free, count: 1 << 12) }

    var count: Int { ends.count }

    subscript(_ number: Int) -> ArraySlice<UInt8> { bytes[start(number)..<ends[number]] }

    private func start(_ number: Int) -> Int { number == 0 ? 0 : ends[number - 1] }

    /// The number of a string, and whether it is new.
    mutating func insert(_ string: ByteView) -> (number: Int, isNew: Bool) {
        var slot = Int(truncatingIfNeeded: XXH3.hash(string)) & (slots.count - 1)
        while slots[slot] != Self.free {
            let number = Int(slots[slot])
            if equals(number, string) { return (number, false) }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = UInt32(ends.count)
        unsafe bytes.append(contentsOf: string.buffer)
        ends.append(bytes.count)
        if ends.count * 2 > slots.count { grow() }
        return (ends.count - 1, true)
    }

    private func equals(_ number: Int, _ string: ByteView) -> Bool {
        let start = start(number)
        guard ends[number] - start == string.count else { return false }
        return bytes.withView { $0.slice(start, string.count).compare(string) == 0 }
    }

    private mutating func grow() {
        slots = [UInt32](repeating: Self.free, count: slots.count * 2)
        let mask = slots.count - 1
        for number in ends.indices {
            let (from, to) = (start(number), ends[number])
            var slot = bytes.withView { Int(truncatingIfNeeded: XXH3.hash($0.slice(from, to - from))) } & mask
            while slots[slot] != Self.free { slot = (slot + 1) & mask }
            slots[slot] = UInt32(number)
        }
    }

    /// The numbers in the order of their strings.
    func sorted() -> [Int] {
        bytes.withView { view in
            ends.indices.sorted { a, b in
                let (left, right) = (start(a), start(b))
                return view.slice(left, ends[a] - left).compare(view.slice(right, ends[b] - right)) < 0
            }
        }
    }
}
