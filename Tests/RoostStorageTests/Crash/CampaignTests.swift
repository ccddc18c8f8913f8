import RoostCampaign
import Testing

/// The engine on the simulated disk: random work, crashes and faults beside a model, the same ones each time.
/// `roost-simulate` runs other seeds, for as long as one likes.
@Suite struct CampaignTests {
    @Test(arguments: 0..<12)
    func nothingAcknowledgedIsLostAndNothingIsThereInPart(part: Int) {
        for seed in UInt64(part * 5)..<UInt64(part * 5 + 5) {
            let report = Campaign(seed: seed).run()
            #expect(report.finding == nil)
        }
    }

    @Test(arguments: [3, 31, 77] as [UInt64])
    func aSeedRepeatsItsRun(seed: UInt64) {
        let (first, second) = (Campaign(seed: seed).run(), Campaign(seed: seed).run())
        #expect(first.traceHash == second.traceHash)
        #expect(first.statistics == second.statistics)
    }

    @Test func seedsDiffer() {
        #expect(Campaign(seed: 1).run().traceHash != Campaign(seed: 2).run().traceHash)
    }

    @Test func aCampaignDoesWhatItIsFor() {
        var sum = CampaignStatistics()
        for seed in 100..<110 as Range<UInt64> { sum += Campaign(seed: seed).run().statistics }
        #expect(sum.commits > 200)
        #expect(sum.crashes > 40)
        #expect(sum.recoveryCrashes > 5)
        #expect(sum.processDeaths > 10)
        #expect(sum.failures > 5)
    }
}
