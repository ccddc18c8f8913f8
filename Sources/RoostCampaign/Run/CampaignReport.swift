/// Something that must not be, and how to see it again.
package struct CampaignFinding: Error, Sendable, CustomStringConvertible {
    /// The seed that shows it.
    package var seed: UInt64
    /// The step of the run, from 0.
    package var step: Int
    /// What was being done, and what is wrong.
    package var what: String

    package init(seed: UInt64, step: Int, what: String) {
        self.seed = seed
        self.step = step
        self.what = what
    }

    package var description: String { "seed \(seed), step \(step): \(what)" }
}

/// How much a run did.
package struct CampaignStatistics: Equatable, Sendable {
    package var steps = 0
    /// Commits that were acknowledged.
    package var commits = 0
    /// Power failures, those amid a recovery included.
    package var crashes = 0
    /// Power failures amid a recovery.
    package var recoveryCrashes = 0
    /// Ends of the process alone, which leave the system's cache as it is.
    package var processDeaths = 0
    /// Outcomes of a power failure that were examined while the run went on.
    package var outcomes = 0
    /// Calls to the engine that failed because the medium did.
    package var failures = 0
    /// Reads and writes that transferred less than was asked for, which nobody may have noticed.
    package var shortCalls = 0
    /// Calls that were interrupted, which nobody may have noticed.
    package var interruptedCalls = 0
    /// Comparisons of a whole store with its model.
    package var comparisons = 0

    /// Nothing done.
    package init() {}

    package static func += (sum: inout CampaignStatistics, more: CampaignStatistics) {
        sum.steps += more.steps
        sum.commits += more.commits
        sum.crashes += more.crashes
        sum.recoveryCrashes += more.recoveryCrashes
        sum.processDeaths += more.processDeaths
        sum.outcomes += more.outcomes
        sum.failures += more.failures
        sum.shortCalls += more.shortCalls
        sum.interruptedCalls += more.interruptedCalls
        sum.comparisons += more.comparisons
    }
}

/// What became of a run.
package struct CampaignReport: Sendable {
    package var seed: UInt64
    package var statistics: CampaignStatistics
    /// Equal for two runs that made the same calls to the medium with the same bytes.
    package var traceHash: UInt64
    /// What is wrong, `nil` when all is well.
    package var finding: CampaignFinding?

    package init(
        seed: UInt64, statistics: CampaignStatistics, traceHash: UInt64, finding: CampaignFinding?
    ) {
        self.seed = seed
        self.statistics = statistics
        self.traceHash = traceHash
        self.finding = finding
    }
}
