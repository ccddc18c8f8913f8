import Roost
import RoostCampaign
import Testing

/// The engine under a database's own encryption, on the simulated disk, with crashes and faults beside a model.
@Suite struct EncryptedCampaignTests {
    @Test func nothingIsLostUnderEncryption() throws {
        let ring = KeyRing(try EncryptionKey(bytes: Array(0..<32)))
        var (runs, crashes, seed) = (0, 0, UInt64(0))
        while runs < 6 {
            let campaign = Campaign(seed: seed, cipher: { _ in ring })
            seed += 1
            guard campaign.settings.isEncrypted else { continue }
            let report = campaign.run()
            #expect(report.finding == nil)
            runs += 1
            crashes += report.statistics.crashes
        }
        #expect(crashes > 20)
    }
}
