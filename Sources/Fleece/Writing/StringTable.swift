/// Where short strings were written, so that they need not be written again.
///
/// Open addressing with a bound on probing: a string that finds no place takes over another's, and is merely
/// written once more later. Entries out of a narrow pointer's reach are of no use and count as free, which
/// bounds the table whatever the size of the body.
struct StringTable: ~Copyable {
    /// Positions in the upper half (in units of two bytes, from 1), hashes in the lower; 0 is an empty slot.
    private var slots = GrowableBuffer<UInt64>()
    private var used = 0

    private static let initialSlots = 16
    private static let keptSlots = 512
    private static let maximumSlots = 16_384
    private static let probes = 16

    init() {}

    private mutating func fill(_ count: Int) {
        used = 0
        slots.removeAll()
        unsafe slots.append(count) { unsafe $0.initialize(repeating: 0, count: count) }
    }

    /// Forgets all strings, and leaves room for as many: bodies that follow each other are often alike.
    mutating func removeAll() {
        guard slots.count <= Self.keptSlots else {
            self = StringTable()
            return
        }
        var count = Self.initialSlots
        while count <= used * 2 { count *= 2 }
        if slots.count > 0 { fill(min(count, slots.count)) }
    }

    /// The position of a string with this hash that `isSame` confirms and that lies at `oldest` or later;
    /// otherwise notes that it is about to be written at `next`.
    @inline(__always)
    mutating func position(hash: UInt64, oldest: Int, next: Int, isSame: (Int) -> Bool) -> Int? {
        if used * 2 >= slots.count, slots.count < Self.maximumSlots { grow() }
        let hash = hash & 0xFFFF_FFFF
        let mask = slots.count &- 1
        let home = Int(truncatingIfNeeded: hash) & mask
        var target = home
        for probe in 0..<Self.probes {
            let slot = (home &+ probe) & mask
            let entry = slots[slot]
            let position = Int(truncatingIfNeeded: entry >> 32 &- 1) << 1
            if entry == 0 || position < oldest {
                target = slot
                if entry == 0 {
                    used &+= 1
                    break
                }
            } else if entry & 0xFFFF_FFFF == hash, isSame(position) {
                return position
            }
        }
        slots[target] = UInt64(truncatingIfNeeded: next >> 1 &+ 1) << 32 | hash
        return nil
    }

    @inline(never)
    private mutating func grow() {
        let count = max(slots.count * 2, Self.initialSlots)
        var larger = GrowableBuffer<UInt64>(capacity: count)
        unsafe larger.append(count) { unsafe $0.initialize(repeating: 0, count: count) }
        for index in 0..<slots.count where slots[index] != 0 {
            var slot = Int(truncatingIfNeeded: slots[index] & 0xFFFF_FFFF) & (count - 1)
            while larger[slot] != 0 { slot = (slot + 1) & (count - 1) }
            larger[slot] = slots[index]
        }
        slots = larger
    }
}
