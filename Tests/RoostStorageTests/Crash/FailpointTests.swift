import RoostCampaign
import RoostSimulation
import RoostStorage
import Testing

/// Planted faults that the campaign must find: a campaign that checks nothing would pass all other tests.
@Suite struct FailpointTests {
    /// How many seeds at most it may take to find one.
    private static let patience: UInt64 = 40

    private func isNoticed(_ sabotage: @escaping (inout FaultPlan) -> Void = { _ in }) -> Bool {
        (0..<Self.patience).contains { Campaign(seed: $0, sabotage: sabotage).run().finding != nil }
    }

    #if ROOST_FAILPOINTS
        @Test(arguments: Failpoint.allCases)
        func aFaultyEngineIsNoticed(failpoint: Failpoint) {
            #expect(
                Failpoint.$active.withValue(failpoint) {
                    isNoticed()
                        || (0..<Self.patience).contains { TurnsCampaign(seed: $0).run().finding != nil }
                })
        }
    #endif

    @Test func aDriveThatAnswersSyncsWithoutDoingThemIsNoticed() {
        #expect(isNoticed { $0.fail(.sync, probability: 1, with: .ignored) })
    }

    @Test func aLostRenameIsNoticed() {
        #expect(isNoticed { $0.fail(.syncDirectory, probability: 1, with: .ignored) })
    }

    @Test func aSyncThatIsSkippedNowAndThenIsNoticed() {
        #expect(isNoticed { $0.fail(.sync, probability: 0.1, with: .ignored) })
    }
}
