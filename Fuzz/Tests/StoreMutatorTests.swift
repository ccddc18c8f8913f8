import RoostSimulation
import Testing

@testable import RoostStorage

/// The mutator gets behind the checksums: most of what it makes still opens, and is not what it was.
@Suite struct StoreMutatorTests {
    private func opens(_ bytes: [UInt8]) -> Bool {
        let disk = SimulatedMedium()
        var options = StoreSeeds.options
        options.isReadOnly = true
        return (try? disk.install(bytes, at: StoreSeeds.path)) != nil
            && (try? Store.open(StoreSeeds.path, options: options, environment: StoreSeeds.environment(disk)))
                != nil
    }

    /// A stand-in for libFuzzer's mutations.
    private func flipped(_ bytes: [UInt8], _ largest: Int) -> [UInt8] {
        var bytes = bytes
        if let index = bytes.indices.last { bytes[index / 2] ^= 0x11 }
        return Array(bytes.prefix(largest))
    }

    @Test func sealingAnUntouchedFileLeavesItAsItIs() throws {
        for file in try StoreSeeds.files() {
            var layout = StoreLayout(file)
            #expect(!layout.records.isEmpty)
            layout.seal()
            #expect(layout.bytes == file)
        }
    }

    @Test func changesGetBehindTheChecksums() throws {
        var (changed, opened) = (0, 0)
        for file in try StoreSeeds.files() {
            for seed in 0..<60 as Range<UInt64> {
                var mutator = StoreMutator(file, largest: 48 << 10, seed: seed, plain: flipped)
                let bytes = mutator.mutated()
                #expect(bytes.count <= 48 << 10)
                guard bytes != file else { continue }
                changed += 1
                if opens(bytes) { opened += 1 }
            }
        }
        #expect(changed > 300)
        #expect(opened > changed / 3)
    }
}
