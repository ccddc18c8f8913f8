import RoostBlobCampaign
import RoostBlobs
import RoostCampaign
import Testing

/// Databases whose documents name blobs on the simulated disk, the same runs each time; `roost-simulate` runs others.
@Suite struct BlobCampaignTests {
    @Test(arguments: 0..<4 as Range<UInt64>)
    func everyBlobThatIsNamedIsThereAndWhole(part: UInt64) {
        var sum = CampaignStatistics()
        for seed in part * 4..<part * 4 + 4 {
            let report = BlobCampaign(seed: seed).run()
            #expect(report.finding == nil)
            sum += report.statistics
        }
        // A campaign in which nothing happens finds nothing either.
        #expect(sum.commits > 50)
        #expect(sum.crashes > 5)
        #expect(sum.outcomes > 20)
    }

    @Test func aSeedRepeatsItsRun() {
        for seed in 0..<6 as Range<UInt64> where !BlobCampaign(seed: seed).isEncrypted {
            let (first, second) = (BlobCampaign(seed: seed).run(), BlobCampaign(seed: seed).run())
            #expect(first.traceHash == second.traceHash)
            #expect(first.statistics == second.statistics)
        }
    }

    #if ROOST_FAILPOINTS
        // That of a change of the key would take too many seeds; see KeyChangeBackupTests.
        @Test(arguments: BlobFailpoint.allCases.filter { $0 != .hastyReplacement })
        func aFaultInTheUpkeepOfBlobsIsNoticed(failpoint: BlobFailpoint) {
            let isNoticed = BlobFailpoint.$active.withValue(failpoint) {
                (0..<40 as Range<UInt64>).contains { BlobCampaign(seed: $0).run().finding != nil }
            }
            #expect(isNoticed)
        }
    #endif
}
