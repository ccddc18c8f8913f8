import RoostSimulation
import Testing

@testable import RoostBytes
@testable import RoostStorage

/// What a file may ask of programs that are older than it.
@Suite struct FeatureFlagTests {
    private let disk = SimulatedMedium()

    /// A store whose header and copy were changed.
    private func makeStore(_ change: (inout FileHeader) -> Void) throws {
        let environment = Simulation.environment(of: disk)
        let store = try Store.open("store", options: StoreOptions(), environment: environment)
        let tree = try store.tree("tree")
        try store.write { try $0.put("key", [1], in: tree) }
        try store.close()
        var header = store.state.file.header
        change(&header)
        let block = header.encoded()
        let bytes = try #require(disk.contents(of: "store"))
        try disk.install(
            block.view.array + block.view.array + bytes.dropFirst(2 * Format.blockSize), at: "store")
    }

    private func open(readOnly: Bool) throws -> [UInt8]? {
        var options = StoreOptions()
        options.isReadOnly = readOnly
        let store = try Store.open("store", options: options, environment: Simulation.environment(of: disk))
        let snapshot = store.snapshot()
        return try snapshot.tree("tree").flatMap { try snapshot[$0, "key"] }
    }

    @Test func ignorableFeaturesAreIgnored() throws {
        try makeStore { $0.ignorableFeatures = 1 << 63 }
        #expect(try open(readOnly: true) == [1])
        #expect(try open(readOnly: false) == [1])
    }

    @Test func readOnlyFeaturesKeepFromWriting() throws {
        try makeStore { $0.readOnlyFeatures = 1 << 5 }
        #expect(try open(readOnly: true) == [1])
        let before = disk.contents(of: "store")
        let refusal = #expect(throws: StoreError.self) { try open(readOnly: false) }
        #expect(refusal?.code == .unsupportedFormat)
        #expect(refusal?.message.contains("read-only") == true)
        #expect(disk.contents(of: "store") == before)
    }

    @Test(arguments: [true, false]) func requiredFeaturesAreRequired(readOnly: Bool) throws {
        try makeStore { $0.requiredFeatures |= 1 << 40 }
        let refusal = #expect(throws: StoreError.self) { try open(readOnly: readOnly) }
        #expect(refusal?.code == .unsupportedFormat)
    }
}
