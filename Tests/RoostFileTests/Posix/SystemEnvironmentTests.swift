import Foundation
import RoostFile
import Testing

struct SystemEnvironmentTests {
    @Test func theWallClockIsTheSystems() {
        let before = Date().timeIntervalSince1970
        let now = Double(Environment.system.clock.now()) / 1_000_000
        // The clocks of one system may differ by their resolution, and a step of the clock in between by more.
        #expect(abs(now - before) < 60)
    }

    @Test func theMonotonicClockNeverGoesBack() {
        let clock = Environment.system.clock
        var last = clock.monotonic()
        for _ in 0..<10_000 {
            let next = clock.monotonic()
            #expect(next >= last)
            last = next
        }
    }

    @Test(arguments: [0, 1, 16, 255, 256, 257, 1_000])
    func randomBytesFillTheWholeBuffer(_ count: Int) {
        // A byte that stays zero in 20 fills was not filled: chance would do that to one in 256^20.
        var seen = [Bool](repeating: false, count: count)
        for _ in 0..<20 {
            var bytes = [UInt8](repeating: 0, count: count)
            unsafe bytes.withUnsafeMutableBytes { unsafe Environment.system.randomness.fill($0) }
            for index in bytes.indices where bytes[index] != 0 { seen[index] = true }
        }
        #expect(!seen.contains(false))
    }

    @Test func theMediumIsTheFileSystem() throws {
        #expect(
            try Environment.system.medium.statusFollowingLinks(of: NSTemporaryDirectory())?.kind == .directory
        )
    }
}
