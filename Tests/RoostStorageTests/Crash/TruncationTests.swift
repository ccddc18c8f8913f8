import RoostCampaign
import RoostSimulation
import Testing

@testable import RoostStorage

/// A file cut off at any length opens as of the last commit that is whole in it, or is refused with a clear error.
@Suite struct TruncationTests {
    @Test func everyLengthGivesTheLastWholeCommit() throws {
        var bench = CrashBench(seed: 4, commits: 3, largestValue: 300)
        let disk = SimulatedMedium()
        let store = try bench.open(disk)
        var ends = [Int(store.state.record.end)]
        for number in 1...3 {
            try bench.commit(number, to: store)
            ends.append(Int(store.state.record.end))
        }
        let bytes = try #require(disk.contents(of: CrashBench.path))
        bench.options.createsIfMissing = false
        for length in 0...bytes.count {
            let cut = SimulatedMedium()
            try cut.install(Array(bytes[..<length]), at: CrashBench.path)
            let whole = ends.lastIndex { $0 <= length }
            do {
                let opened = try bench.open(cut)
                let count = NumberedWork.number(try Contents.read(opened.snapshot())[bench.work.name])
                #expect(Int(count) == whole)
                if ends.contains(length) { #expect(try bench.commitsShown(by: opened) == whole) }
            } catch let error as StoreError {
                #expect(whole == nil)
                #expect([.notAStore, .damaged].contains(error.code))
            }
        }
    }
}
