import RoostCampaign
import Testing

/// The engine on the simulated disk: random work, crashes and faults beside a model, the same ones each time.
/// `roost-simulate` runs other seeds, for as long as one likes.
@Suite struct CampaignTests {
    @Test(arguments: 0..<4 as Range<UInt64>)
    func nothingAcknowledgedIsLostAndNothingIsThereInPart(part: UInt64) {
        var sum = CampaignStatistics()
        for seed in part * 7..<part * 7 + 7 {
            let report = Campaign(seed: seed).run()
            #expect(report.finding == nil)
            sum += report.statistics
        }
        // A campaign in which nothing happens finds nothing either.
        #expect(sum.commits > 100)
        #expect(sum.crashes > 20)
        #expect(sum.recoveryCrashes > 2)
        #expect(sum.processDeaths > 5)
        #expect(sum.failures > 1)
    }

    /// Two processes that compact one store, at each other's every call to the disk.
    @Test func compactionsByTurnsLoseNothing() {
        var sum = CampaignStatistics()
        for seed in 0..<24 as Range<UInt64> {
            let report = TurnsCampaign(seed: seed).run()
            #expect(report.finding == nil)
            sum += report.statistics
        }
        #expect(sum.commits > 200)
        #expect(TurnsCampaign(seed: 3).run().traceHash == TurnsCampaign(seed: 3).run().traceHash)
    }

    @Test func shortAndInterruptedCallsAreCounted() {
        for isNoisy in [true, false] {
            let campaign = (0...).lazy.map { Campaign(seed: $0) }.first { $0.settings.isNoisy == isNoisy }
            let statistics = campaign?.run().statistics
            #expect(statistics.map { $0.shortCalls > 10 && $0.interruptedCalls > 10 } == isNoisy)
        }
    }

    @Test func aSeedRepeatsItsRun() {
        let (first, second) = (Campaign(seed: 31).run(), Campaign(seed: 31).run())
        #expect(first.traceHash == second.traceHash)
        #expect(first.statistics == second.statistics)
        #expect(Campaign(seed: 32).run().traceHash != first.traceHash)
    }

    /// Seeds that found something once.
    @Test(arguments: [7, 31, 5086, 419_440_919_314_710, 3_564_447_470_255] as [UInt64])
    func aSeedThatFoundSomethingFindsItNoMore(seed: UInt64) {
        #expect(Campaign(seed: seed).run().finding == nil)
    }
}
