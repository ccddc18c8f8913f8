/// What a salvage found and what it could not.
public struct SalvageReport: Sendable {
    /// A part of a tree of which at least the newest state could not be read.
    public struct Loss: Hashable, Sendable {
        /// The tree's name.
        public let tree: String
        /// The keys that are concerned; one key alone where only its value is lost.
        public let keys: KeyRange
        /// Where in the damaged file the bytes are.
        public let offset: UInt64
        /// How many entries were there by the count of the nodes above, 0 where that is not known.
        public let entries: UInt64
    }

    /// What was lost or replaced by something older, in the order of finding; at most ``maximumLosses``.
    public internal(set) var losses: [Loss] = []
    /// Losses beyond the maximum.
    public internal(set) var furtherLosses = 0
    /// Entries concerned by all losses, by the counts of the nodes above. Many of them may be in the new store all the
    /// same: from older nodes and from the log.
    public internal(set) var concernedEntries: UInt64 = 0
    /// Entries whose value could not be read.
    public internal(set) var lostValues = 0
    /// Stretches of the file that should be chunks of a commit and are not, as far as the salvage came by them.
    public internal(set) var damagedRanges: [Range<UInt64>] = []
    /// Entries in the new store.
    public internal(set) var entries: UInt64 = 0
    /// Trees in the new store.
    public internal(set) var trees = 0
    /// Trees that hold nodes of which nobody knows whose they are; named "salvaged-" and the node's offset.
    public internal(set) var strayTrees: [String] = []
    /// The number of the newest commit of which anything was found.
    public internal(set) var commit: UInt64 = 0

    /// Losses and damaged ranges that are listed one by one.
    public static let maximumLosses = 1000

    /// Whether nothing was lost: the new store holds what the newest commit held.
    public var isComplete: Bool { losses.isEmpty && damagedRanges.isEmpty && lostValues == 0 }

    mutating func add(_ loss: Loss) {
        concernedEntries &+= loss.entries
        if losses.count < SalvageReport.maximumLosses { losses.append(loss) } else { furtherLosses += 1 }
    }

    mutating func add(damaged range: Range<UInt64>) {
        guard !damagedRanges.contains(range), damagedRanges.count < SalvageReport.maximumLosses else {
            return
        }
        damagedRanges.append(range)
    }
}
