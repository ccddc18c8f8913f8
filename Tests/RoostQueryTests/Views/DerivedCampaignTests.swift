import RoostDerivedCampaign
import RoostIndex
import Testing

/// Views and indexes on a disk that crashes and fails: a few of the seeds that `make simulate` runs for as long as one likes.
@Suite struct DerivedCampaignTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func viewsAndIndexesShowTheDocumentsWhateverFails(seed: UInt64) {
        let report = DerivedCampaign(seed: seed).run()
        #expect(report.finding == nil, "\(report.finding.map { "\($0)" } ?? "")")
        #expect(report.statistics.comparisons > 20)
    }

    /// Seeds that found something once.
    @Test(arguments: [1_000_014, 2_562_726_521_995_267] as [UInt64])
    func aSeedThatFoundSomethingFindsItNoMore(seed: UInt64) {
        #expect(DerivedCampaign(seed: seed).run().finding == nil)
    }

    #if ROOST_FAILPOINTS
        @Test(arguments: IndexFailpoint.allCases)
        func aFaultInTheUpkeepIsNoticed(failpoint: IndexFailpoint) {
            let isNoticed = IndexFailpoint.$active.withValue(failpoint) {
                (0..<60).contains { DerivedCampaign(seed: $0).run().finding != nil }
            }
            #expect(isNoticed)
        }
    #endif
}
