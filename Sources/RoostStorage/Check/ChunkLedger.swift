/// Proves that no two chunks overlap and that every borrowed value has exactly one sharing owner.
///
/// Chunks come in any order. Neighbouring chunks of one owner join into one extent, a borrowed value goes once its
/// owner is there, so what stays is 16 bytes for each gap and each shared value. When that exceeds the memory allowed,
/// the ledger keeps to the lower part of the file; the trees are then walked again for the rest, from ``upper`` on.
final class ChunkLedger {
    /// How a chunk is reached.
    enum Use: UInt64 {
        /// By its one owner.
        case owned = 0
        /// By the one owner that others may borrow it from.
        case shared = 1
        case borrowed = 2
    }

    private struct Extent {
        var offset: UInt64
        var lengthAndUse: UInt64

        var use: Use { Use(rawValue: lengthAndUse & 3) ?? .owned }
        var end: UInt64 { offset &+ lengthAndUse >> 2 }

        init(_ chunk: ChunkReference, _ use: Use) {
            offset = chunk.offset
            lengthAndUse = UInt64(chunk.length) << 2 | use.rawValue
        }

        mutating func join(_ other: Extent) { lengthAndUse += other.lengthAndUse & ~3 }
    }

    private let findings: FindingList
    private let capacity: Int
    private var extents: [Extent] = []
    /// Only chunks that begin in this part of the file are looked at.
    private let lower: UInt64
    private(set) var upper = UInt64.max

    init(from lower: UInt64, memoryLimit: Int, _ findings: FindingList) {
        self.lower = lower
        self.findings = findings
        capacity = max(memoryLimit / MemoryLayout<Extent>.stride, 64)
    }

    func note(_ chunk: ChunkReference, _ use: Use) {
        guard chunk.offset >= lower, chunk.offset < upper else { return }
        extents.append(Extent(chunk, use))
        guard extents.count >= capacity else { return }
        settle(isFinal: false)
        // Half of the room must be free again, or every few chunks would be followed by another round.
        guard extents.count > capacity / 2 else { return }
        upper = extents[extents.count / 2].offset
        extents.removeAll { $0.offset >= upper }
    }

    /// Reports what is left; says where another walk must begin, `nil` when the whole file was covered.
    func finish() -> UInt64? {
        settle(isFinal: true)
        // One extent may be larger than all the room; the part of the file after its start is then done with.
        return upper == .max ? nil : max(upper, lower + 1)
    }

    private func settle(isFinal: Bool) {
        extents.sort { ($0.offset, $0.lengthAndUse & 3) < ($1.offset, $1.lengthAndUse & 3) }
        var kept: [Extent] = []
        /// Where the last chunk that has an owner stands.
        var last: Extent?
        for extent in extents {
            if extent.use == .borrowed {
                if isOwner(last, of: extent) { continue }
                if isFinal { reportBorrowed(extent, last) } else { kept.append(extent) }
                continue
            }
            if let last, extent.offset < last.end {
                findings.add("a chunk that overlaps another, or belongs to two owners", at: extent.offset)
                continue
            }
            if extent.use == .owned, let index = kept.indices.last, kept[index].use == .owned,
                kept[index].end == extent.offset
            {
                kept[index].join(extent)
            } else {
                kept.append(extent)
            }
            last = kept.last
        }
        extents = kept
    }

    private func isOwner(_ owner: Extent?, of borrowed: Extent) -> Bool {
        guard let owner, owner.use == .shared else { return false }
        return owner.offset == borrowed.offset && owner.end == borrowed.end
    }

    private func reportBorrowed(_ borrowed: Extent, _ last: Extent?) {
        let isCovered = last.map { borrowed.offset < $0.end } ?? false
        findings.add(
            isCovered
                ? "a borrowed value whose owner does not share it" : "a borrowed value without an owner",
            at: borrowed.offset)
    }
}
