import RoostBytes

/// Byte strings, each once, by numbers from 0 on.
struct ByteTable {
    /// A string's number, and above it the half of its hash that places it.
    private var slots: [UInt64]
    /// Whether hashes are those of the standard library, with a secret key; the faster ones are used until strings come
    /// that were made to have the same.
    private(set) var hasSecretHashes = false
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private static let free = UInt64.max
    /// No string is so far from the place of its hash by chance.
    private static let mostSteps = 512

    init() { slots = [UInt64](repeating: Self.free, count: 64) }

    var count: Int { ends.count }

    subscript(_ number: Int) -> ArraySlice<UInt8> { bytes[start(number)..<ends[number]] }

    private func start(_ number: Int) -> Int { number == 0 ? 0 : ends[number - 1] }

    /// The number of a string; `nil` where it isn't there.
    func number(of string: ByteView) -> Int? { find(string, hash(of: string)).number }

    /// The number of a string, and whether it is new.
    mutating func insert(_ string: ByteView) -> (number: Int, isNew: Bool) {
        let hash = hash(of: string)
        let (slot, known) = find(string, hash)
        if let known { return (known, false) }
        if !hasSecretHashes, (slot - place(of: hash)) & (slots.count - 1) > Self.mostSteps {
            useSecretHashes()
            return insert(string)
        }
        slots[slot] = hash | UInt64(ends.count)
        unsafe bytes.append(contentsOf: string.buffer)
        ends.append(bytes.count)
        if ends.count * 2 > slots.count { grow() }
        return (ends.count - 1, true)
    }

    @inline(__always)
    private func hash(of string: ByteView) -> UInt64 {
        guard hasSecretHashes else { return XXH3.hash(string) << 32 }
        var hasher = Hasher()
        unsafe hasher.combine(bytes: string.buffer)
        return UInt64(truncatingIfNeeded: hasher.finalize()) << 32
    }

    /// Where a string is, or is to be put.
    @inline(__always)
    private func find(_ string: ByteView, _ hash: UInt64) -> (slot: Int, number: Int?) {
        var slot = place(of: hash)
        while slots[slot] != Self.free {
            let number = Int(UInt32(truncatingIfNeeded: slots[slot]))
            if (slots[slot] ^ hash) >> 32 == 0, equals(number, string) { return (slot, number) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (slot, nil)
    }

    private func place(of slot: UInt64) -> Int { Int(slot >> 32) & (slots.count - 1) }

    private func equals(_ number: Int, _ string: ByteView) -> Bool {
        let start = start(number)
        guard ends[number] - start == string.count else { return false }
        return bytes.withView { $0.slice(start, string.count).compare(string) == 0 }
    }

    private mutating func grow() { place(slots.filter { $0 != Self.free }, in: slots.count * 2) }

    private mutating func useSecretHashes() {
        hasSecretHashes = true
        let entries = bytes.withView { view in
            ends.indices.map { hash(of: view.slice(start($0), ends[$0] - start($0))) | UInt64($0) }
        }
        place(entries, in: slots.count)
    }

    private mutating func place(_ entries: [UInt64], in count: Int) {
        slots = [UInt64](repeating: Self.free, count: count)
        for entry in entries {
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
