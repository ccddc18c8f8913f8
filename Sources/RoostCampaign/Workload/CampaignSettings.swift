import RoostSimulation
import RoostStorage

/// What a seed decides about its whole run.
package struct CampaignSettings: Sendable {
    /// The shapes that keys take.
    package enum KeyStyle: Int, CaseIterable, Sendable {
        /// Numbers, mostly growing.
        case sequence
        /// Short text with long common prefixes.
        case text
        /// A few bytes of a small alphabet: many are prefixes of others.
        case dense
        /// Up to 300 bytes of anything.
        case long
        /// Groups with long beginnings in common, and strangers among them; see ``GroupedKeys``.
        case grouped
    }

    package typealias Cipher = @Sendable (_ key: UInt8) -> any ChunkTransformFactory

    /// How many steps the run has.
    package var steps: Int
    package var keyStyle: KeyStyle
    /// How large the torn pieces of a write are.
    package var tearing: Tearing
    /// Reads and writes are cut short and interrupted now and then, which nobody may notice.
    package var isNoisy: Bool
    /// The longest value, in bytes; most are far shorter.
    package var largestValue: Int
    /// How many keys are drawn from, where their style does not say so itself.
    var population: Int
    /// How many entries a transaction puts or deletes at once at most.
    var mostEntries: Int
    /// Whether a transaction may outgrow what the engine keeps in memory of one.
    package var allowsHugeTransactions: Bool
    /// Whether the store's chunks are sealed.
    package var isEncrypted: Bool
    /// Makes what seals them, under one of several keys; under whichever a file was sealed, the one of key 0 opens it.
    package var cipher: Cipher = { SimulatedCipher(key: $0) }
    /// What nodes aim at and what leaves hold is drawn from all that is allowed, at each opening anew, instead of from
    /// what is common.
    package var hasAnySizes: Bool
    /// Whether the file's lock is taken for each transaction, as where other processes write too.
    package var takesTurns: Bool

    /// - Parameters:
    ///   - encryption: decides for itself whether there is any, so that a seed's work does not depend on it.
    ///   - shapes: decides in the same way about grouped keys and about sizes.
    ///   - turns: decides in the same way about taking turns.
    init(
        _ generator: inout SeededGenerator, encryption: SeededGenerator, shapes: SeededGenerator,
        turns: SeededGenerator
    ) {
        steps = 60 + generator.next(below: 80)
        let style = [KeyStyle.sequence, .text, .dense, .long][generator.next(below: 4)]
        tearing = generator.chance(0.5) ? .bytes : .sectors
        isNoisy = generator.chance(0.3)
        // Most stores are small, so that a crash takes little time to look at; trees of several levels, leaves that are divided
        // and transactions of many parts are in them, too.
        switch generator.next(below: 20) {
        case 0: (largestValue, population, mostEntries) = (100_000, 3_000, 100)
        case 1...4: (largestValue, population, mostEntries) = (5_000, 1_000, 40)
        case 5...10: (largestValue, population, mostEntries) = (1_000, 400, 20)
        default: (largestValue, population, mostEntries) = (300, 150, 10)
        }
        allowsHugeTransactions = generator.chance(0.01)
        var encryption = encryption
        isEncrypted = encryption.chance(0.35)
        var shapes = shapes
        keyStyle = shapes.chance(0.4) ? .grouped : style
        hasAnySizes = keyStyle == .grouped
        var turns = turns
        takesTurns = turns.chance(0.3)
    }

    /// Options for one opening; a store may be opened with others each time.
    func options(_ generator: inout SeededGenerator) -> StoreOptions {
        var options = StoreOptions()
        options.nodeSize = [1024, 1024, 2048, 8192][generator.next(below: 4)]
        options.pendingLimit = [0, 0, 256 << 10, 16 << 20][generator.next(below: 4)]
        options.logLimit = [0, 0, 256 << 10, 64 << 20][generator.next(below: 4)]
        options.cacheSize = [1 << 14, 1 << 20][generator.next(below: 2)]
        options.inlineLimit = [0, 16, 128, 2048][generator.next(below: 4)]
        options.compression = [0, 0, 1, 6][generator.next(below: 4)]
        // The clock of a simulation never makes the interval pass: syncs happen when the plan says so.
        options.durability = generator.chance(0.35) ? .relaxed(interval: 1e9) : .full
        options.compactsAutomatically = false
        options.fewChanges = [0, 4, 16][generator.next(below: 3)]
        options.manyChanges = 8
        options.partLength = [1 << 12, 1 << 12, 1 << 14, 1 << 17][generator.next(below: 4)]
        if takesTurns { options.writers = .takingTurns }
        options.reductions = [.keyBytes]
        if isEncrypted { options.transform = cipher(0) }
        if hasAnySizes {
            options.nodeSize =
                generator.chance(0.5)
                ? 1024 << generator.next(below: 6) : 1024 + generator.next(below: 31_745)
            options.inlineLimit = generator.chance(0.5) ? 2048 : generator.next(below: 2049)
        }
        return options
    }
}

extension Reduction {
    /// The sum of the lengths of all keys.
    package static let keyBytes = Reduction(
        name: "keyBytes",
        reduce: { rows, value in
            var sum = 0 as UInt64
            try rows.forEach { key, _ in sum += UInt64(key.count) }
            value += Key(sum).bytes
        },
        combine: { values, value in
            // Wrapping, because a damaged file may hold any numbers.
            var sum = 0 as UInt64
            try values.forEach { sum &+= $0.number }
            value += Key(sum).bytes
        })
}

extension Span<UInt8> {
    /// The number whose bytes these are, most significant first.
    package var number: UInt64 { indices.reduce(0) { $0 << 8 | UInt64(self[$1]) } }
}
