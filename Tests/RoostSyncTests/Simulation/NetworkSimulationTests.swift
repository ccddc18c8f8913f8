import Foundation
import Testing

/// Random histories over a simulated network. `ROOST_REPLICATION_SEEDS=N` runs N of them instead of a few; what fails names its
/// seed.
@Suite struct NetworkSimulationTests {
    static let seeds: Range<UInt64> =
        0..<(ProcessInfo.processInfo.environment["ROOST_REPLICATION_SEEDS"].flatMap { UInt64($0) } ?? 6)

    @Test(arguments: seeds)
    func peersAgreeInTheEnd(seed: UInt64) async throws {
        let campaign = try NetworkCampaign(seed: seed)
        try await campaign.run(rounds: 25)
        #expect(campaign.findings.isEmpty, "\(campaign.findings)")
    }

    /// The simulation would notice: each fault leads to a finding within a few seeds.
    @Test(arguments: FaultyPeer.Fault.allCases)
    func aFaultIsNoticed(fault: FaultyPeer.Fault) async throws {
        for seed in 0..<10 as Range<UInt64> {
            let campaign = try NetworkCampaign(seed: seed, fault: fault)
            try await campaign.run(rounds: 12)
            if !campaign.findings.isEmpty { return }
        }
        Issue.record("\(fault) was not noticed")
    }
}
