import RoostFile
import RoostSimulation
import Testing

/// The simulation at work on a toy: numbered records appended to a log, each acknowledged after a sync. What the log
/// promises holds at every crash; and the campaign notices when it is broken, so it would notice in an engine too.
struct CampaignTests {
    private static let recordSize = 600

    private func record(_ number: Int) -> [UInt8] { pattern(Self.recordSize, salt: number) }

    /// Appends records until the power goes; returns how many were acknowledged.
    private func append(_ medium: any Medium, records: Int) -> Int {
        var acknowledged = 0
        do throws(FileError) {
            let file = try medium.open("log", .createNew)
            try medium.syncDirectory(of: "log")
            for number in 0..<records {
                try file.writeFully(record(number), at: UInt64(number * Self.recordSize))
                try file.sync()
                acknowledged += 1
            }
        } catch {}
        return acknowledged
    }

    private func recover(_ disk: SimulatedMedium) -> Int {
        let bytes = disk.contents(of: "log") ?? []
        var count = 0
        while bytes.dropFirst(count * Self.recordSize).starts(with: record(count)) { count += 1 }
        return count
    }

    /// How many of the crashes at every change, several of each, lost an acknowledged record.
    private func losses(_ plan: FaultPlan) -> Int {
        var losses = 0
        for point in 1...12 {
            for seed in 0..<10 {
                let simulation = Simulation(seed: UInt64(seed), tearing: .bytes)
                simulation.disk.faults = plan
                simulation.disk.crash(atChange: point)
                let acknowledged = append(simulation.environment.medium, records: 5)
                let recovered = recover(simulation.afterCrash().disk)
                #expect(recovered <= acknowledged + 1)
                if recovered < acknowledged { losses += 1 }
            }
        }
        return losses
    }

    @Test func nothingAcknowledgedIsLost() {
        #expect(losses(FaultPlan()) == 0)
    }

    @Test func aSkippedSyncIsNoticed() {
        var plan = FaultPlan()
        plan.fail(.sync, from: 1, with: .ignored)
        #expect(losses(plan) > 10)
    }

    @Test func aSkippedDirectorySyncIsNoticed() {
        var plan = FaultPlan()
        plan.fail(.syncDirectory, from: 1, with: .ignored)
        #expect(losses(plan) > 10)
    }
}
