import Foundation
import RoostBlobCampaign
import RoostBlobs
import RoostCampaign
import RoostDerivedCampaign
import RoostIndex
import RoostStorage

/// Plants faults and looks how long it takes to find them: by how much a change of the simulation makes it better or worse.
enum PlantedFaults {
    private static let patience: UInt64 = 2_000

    /// Prints for each fault after how many seeds, and seconds of this thread's work, it was found.
    ///
    /// - Returns: the exit status: 1 where one was not found, 2 where there are none.
    static func findAll() -> Int32 {
        #if ROOST_FAILPOINTS
            var status: Int32 = 0
            func look(for fault: String, _ run: (UInt64) -> CampaignReport) {
                let start = clock()
                let seed = (0..<patience).first { run($0).finding != nil }
                // POSIX has it count millionths.
                let seconds = Double(clock() - start) / 1_000_000
                if seed == nil { status = 1 }
                SimulateCommand.tell(
                    "\(fault): \(seed.map { "seed \($0)" } ?? "not found"), \(String(format: "%.2f", seconds)) s\n"
                )
            }
            for fault in Failpoint.allCases {
                look(for: "\(fault)") { seed in
                    Failpoint.$active.withValue(fault) {
                        let report = SimulateCommand.campaign(seed).run()
                        return report.finding == nil ? TurnsCampaign(seed: seed).run() : report
                    }
                }
            }
            for fault in BlobFailpoint.allCases {
                look(for: "\(fault)") { seed in
                    BlobFailpoint.$active.withValue(fault) { BlobCampaign(seed: seed).run() }
                }
            }
            for fault in IndexFailpoint.allCases {
                look(for: "\(fault)") { seed in
                    IndexFailpoint.$active.withValue(fault) { DerivedCampaign(seed: seed).run() }
                }
            }
            return status
        #else
            SimulateCommand.tell("Faults are planted in debug builds alone.\n")
            return 2
        #endif
    }
}
