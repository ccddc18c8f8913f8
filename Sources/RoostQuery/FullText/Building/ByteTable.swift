import RoostBytes

/// Byte strings, each once, by numbers from 0 on.
struct ByteTable {
    /// A string's number, and above it the half of its hash that places it.
    private var slots: [UInt64]
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private static let free = UInt64.max

    init() { slots = [UInt64](repeating: Self.free, count: 64) }

    var count: Int { ends.count }

    subscript(_ number: Int) -> ArraySlice<UInt8> { bytes[start(number)..<ends[number]] }

    private func start(_ number: Int) -> Int { number == 0 ? 0 : ends[number - 1] }

    /// The number of a string, and whether it is new.
    mutating func insert(_ string: ByteView) -> (number: Int, isNew: Bool) {
        let hash = XXH3.hash(string) << 32
        var slot = place(of: hash)
        while slots[slot] != Self.free {
            let number = Int(UInt32(truncatingIfNeeded: slots[slot]))
            if (slots[slot] ^ hash) >> 32 == 0, equals(number, string) { return (number, false) }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = hash | UInt64(ends.count)
        unsafe bytes.append(contentsOf: string.buffer)
        ends.append(bytes.count)
        if ends.count * 2 > slots.count { grow() }
        return (ends.count - 1, true)
    }

    private func place(of slot: UInt64) -> Int { Int(slot >> 32) & (slots.count - 1) }

    private func equals(_ number: Int, _ string: ByteView) -> Bool {
        let start = start(number)
        guard ends[number] - start == string.count else { return false }
        return bytes.withView { $0.slice(start, string.count).compare(string) == 0 }
    }

    private mutating func grow() {
        let known = slots
        slots = [UInt64](repeating: Self.free, count: known.count * 2)
        for entry in known where entry != Self.free {
            var slot = place(of: entry)
            while slots[slot] != Self.free { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = entry
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
