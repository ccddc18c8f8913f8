import Foundation
import Roost
import RoostBlobCampaign
import RoostCampaign
import RoostDerivedCampaign

/// `roost-simulate`: replays one seed step by step, or runs fresh ones for a time.
enum SimulateCommand {
    private static let usage = """
        usage: roost-simulate SEED               replays one seed and tells every step
               roost-simulate --seconds N        runs fresh seeds for N seconds
               roost-simulate --from SEED --seconds N
                                                 runs seeds from SEED on for N seconds
               roost-simulate --planted          plants one fault after the other, and tells how long it takes to find it
                                                 (debug builds only)

        Exit status: 0 when all is well, 1 on a finding, 2 on a wrong call.

        """

    static func run(_ arguments: [String]) -> Int32 {
        switch arguments.count {
        case 1 where arguments[0] == "--planted": return PlantedFaults.findAll()
        case 1:
            guard let seed = UInt64(arguments[0]) else { break }
            return replay(seed)
        case 2 where arguments[0] == "--seconds":
            guard let seconds = UInt64(arguments[1]) else { break }
            return runSeeds(from: UInt64.random(in: 0...UInt64(UInt32.max)) << 20, seconds)
        case 4 where arguments[0] == "--from" && arguments[2] == "--seconds":
            guard let seed = UInt64(arguments[1]), let seconds = UInt64(arguments[3]) else { break }
            return runSeeds(from: seed, seconds)
        default: break
        }
        FileHandle.standardError.write(Data(usage.utf8))
        return 2
    }

    private static func replay(_ seed: UInt64) -> Int32 {
        let report = run(seed) { tell($0 + "\n") }
        tell(summary(report.statistics, seeds: 1) + ", trace \(String(report.traceHash, radix: 16))\n")
        return exitStatus(report)
    }

    /// What becomes of a seed: of a store, of one that two processes write, of a database with blobs, and of one with views and indexes.
    private static func run(_ seed: UInt64, log: ((String) -> Void)? = nil) -> CampaignReport {
        var report = campaign(seed, log: log).run()
        let others = [
            { TurnsCampaign(seed: seed).run() },
            { BlobCampaign(seed: seed, log: log).run() }, { DerivedCampaign(seed: seed, log: log).run() },
        ]
        for run in others where report.finding == nil {
            let more = run()
            report.statistics += more.statistics
            report.finding = more.finding
        }
        return report
    }

    /// The run of a seed on a store. Where it is encrypted, that is what databases have for every other seed.
    static func campaign(_ seed: UInt64, log: ((String) -> Void)? = nil) -> Campaign {
        guard seed % 2 == 1, let key = try? EncryptionKey(bytes: Array(0..<32)) else {
            return Campaign(seed: seed, log: log)
        }
        let ring = KeyRing(key)
        return Campaign(seed: seed, log: log, cipher: { _ in ring })
    }

    /// Every seed is printed before it runs, so that the last one printed is to blame for a trap or a hang.
    private static func runSeeds(from first: UInt64, _ seconds: UInt64) -> Int32 {
        let start = ContinuousClock.now
        let processorTime = clock()
        var statistics = CampaignStatistics()
        var seed = first
        var status: Int32 = 0
        while status == 0, ContinuousClock.now - start < .seconds(seconds) {
            tell("\(seed)" + ((seed - first) % 10 == 9 ? "\n" : " "))
            let report = run(seed)
            statistics += report.statistics
            seed += 1
            status = exitStatus(report)
        }
        // POSIX has it count millionths.
        let seconds = Double(clock() - processorTime) / 1_000_000
        tell("\n" + summary(statistics, seeds: Int(seed - first)) + "\n")
        let (crashes, outcomes) = (Double(statistics.crashes), Double(statistics.outcomes))
        tell(
            String(
                format: "%.1f s of processor time: %.0f crashes and %.0f more outcomes a second\n", seconds,
                crashes / seconds, outcomes / seconds))
        return status
    }

    private static func summary(_ statistics: CampaignStatistics, seeds: Int) -> String {
        "\(seeds) seeds, \(statistics.steps) steps, \(statistics.commits) commits, \(statistics.crashes) crashes "
            + "(\(statistics.recoveryCrashes) during recovery), \(statistics.outcomes) more outcomes of crashes, "
            + "\(statistics.processDeaths) process deaths, \(statistics.failures) failed calls, "
            + "\(statistics.shortCalls) short and \(statistics.interruptedCalls) interrupted calls, "
            + "\(statistics.comparisons) comparisons"
    }

    private static func exitStatus(_ report: CampaignReport) -> Int32 {
        guard let finding = report.finding else { return 0 }
        tell("\nFOUND \(finding)\nreplay with: roost-simulate \(report.seed)\n")
        return 1
    }

    /// Writes at once, whatever may happen next.
    static func tell(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
