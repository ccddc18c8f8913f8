import RoostFile

/// Which calls fail, and how: a plain value that can be prepared, handed to several disks, and printed.
///
/// Calls are numbered from 1, each kind for itself, as in ``CallCounts``: the next sync to come is number
/// `disk.counts[.sync] + 1`. Where several rules hit one call, the first one given counts.
package struct FaultPlan: Equatable, Sendable {
    /// What becomes of a call.
    package enum Fault: Equatable, Sendable {
        /// The call throws this.
        ///
        /// - A write that fails with ``FileError/Code/inputOutput`` may have put any first part of its bytes into the file.
        /// - A sync that fails decides for each unsynced change of the file (of the names in a directory, and in others that
        ///   files were renamed between it and) at once whether it got through. Those that did not are forgotten, though reads
        ///   still show them: syncing again succeeds and does not bring them back, as on Linux.
        /// - Every call that fails with ``FileError/Code/interrupted``, and all other calls, did nothing.
        case error(FileError.Code)
        /// A read or write transfers fewer bytes than asked, at least one. Other calls go on as usual.
        case short
        /// A sync is answered but not done: a drive that lies. Other calls go on as usual.
        case ignored
    }

    enum Occasion: Equatable {
        case call(Int)
        case callsFrom(Int)
        case probability(Double)
    }

    struct Rule: Equatable {
        /// `nil` for every kind.
        var kind: CallKind?
        var occasion: Occasion
        var fault: Fault
    }

    private(set) var rules: [Rule] = []

    /// Space for files' contents in bytes, counted in pages of 4 KiB; `nil` for no limit.
    ///
    /// A write for which there is not enough room is cut short; one for which there is none fails.
    package var capacity: UInt64?

    package init() {}

    /// Call number `number` of `kind` (of all kinds together when `nil`) meets `fault`.
    package mutating func fail(_ kind: CallKind?, at number: Int, with fault: Fault = .error(.inputOutput)) {
        rules.append(Rule(kind: kind, occasion: .call(number), fault: fault))
    }

    /// Call number `number` of `kind` (of all kinds together when `nil`) and all later ones meet `fault`.
    package mutating func fail(_ kind: CallKind?, from number: Int, with fault: Fault = .error(.inputOutput))
    {
        rules.append(Rule(kind: kind, occasion: .callsFrom(number), fault: fault))
    }

    /// Every call of `kind` (of any kind when `nil`) meets `fault` with the given probability.
    package mutating func fail(
        _ kind: CallKind?, probability: Double, with fault: Fault = .error(.inputOutput)
    ) {
        rules.append(Rule(kind: kind, occasion: .probability(probability), fault: fault))
    }

    /// The fault that a call of `kind` meets, which `counts` includes already.
    func fault(for kind: CallKind, _ counts: CallCounts, _ generator: inout SeededGenerator) -> Fault? {
        for rule in rules where rule.kind == nil || rule.kind == kind {
            let number = rule.kind == nil ? counts.total : counts[kind]
            let hit =
                switch rule.occasion {
                case .call(let planned): number == planned
                case .callsFrom(let first): number >= first
                case .probability(let probability): generator.chance(probability)
                }
            if hit { return rule.fault }
        }
        return nil
    }
}
