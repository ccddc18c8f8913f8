import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostBytes
@testable import RoostStorage

/// Encrypted files put together from two copies of one file that were written on separately. Whoever does that has no key,
/// but can make every checksum right.
@Suite struct SpliceTests {
    private let simulation = Simulation(seed: 5)
    private let options: StoreOptions
    /// The copies, which are the same up to `parting`, and then have commits of the same sizes at the same places.
    private let first: Copy
    private let second: Copy
    private let parting: Int

    private struct Copy {
        let bytes: [UInt8]
        let commits: [CommitRecord]
        let chunks: [(chunk: ChunkReference, kind: ChunkKind)]
        /// What it held after each of its commits.
        var states: [[String: Model]] = []
    }

    init() throws {
        var options = StoreOptions()
        options.transform = SimulatedCipher()
        options.inlineLimit = 8
        options.nodeSize = 1024
        options.compactsAutomatically = false
        self.options = options
        let store = try Store.open("common", options: options, environment: simulation.environment)
        try Self.commit(1, to: store)
        try store.close()
        let common = try #require(simulation.disk.contents(of: "common"))
        parting = common.count
        first = try Self.copy("first", 2, common, options, simulation)
        second = try Self.copy("second", 3, common, options, simulation)
    }

    private static func commit(_ seed: UInt8, to store: Store) throws {
        try store.write { transaction in
            let tree = try transaction.tree("tree")
            for key in 0..<6 as Range<UInt8> {
                try transaction.put(Key([key]), [UInt8](repeating: seed &* 16 &+ key, count: 100), in: tree)
            }
        }
    }

    private static func copy(
        _ path: String, _ seed: UInt8, _ common: [UInt8], _ options: StoreOptions, _ simulation: Simulation
    ) throws -> Copy {
        try simulation.disk.install(common, at: path)
        let store = try Store.open(path, options: options, environment: simulation.environment)
        var states = [try store.snapshot().contents()]
        for number in 0..<3 as Range<UInt8> {
            try commit(seed &+ 2 &* number, to: store)
            states.append(try store.snapshot().contents())
        }
        try store.close()
        let file = try StoreOpener(path: path, options: options, environment: simulation.environment)
            .openFile(.readOnly)
        var (stream, commits) = (CommitStream(file: file, after: nil), [CommitRecord]())
        var chunks: [(ChunkReference, ChunkKind)] = []
        while let record = try stream.next() {
            commits.append(record)
            var scan = ChunkScan(file: file, from: record.start, to: record.offset)
            while let item = try scan.next() {
                if case .chunk(let chunk, let kind) = item { chunks.append((chunk, kind)) }
            }
        }
        let bytes = try #require(simulation.disk.contents(of: path))
        return Copy(bytes: bytes, commits: commits, chunks: chunks, states: states)
    }

    /// What a file of these bytes shows, `nil` when it is refused.
    private func contents(of bytes: [UInt8]) throws -> [String: Model]? {
        try simulation.disk.install(bytes, at: "spliced")
        defer { try? simulation.disk.remove("spliced") }
        var reading = options
        reading.isReadOnly = true
        do {
            return try Store.open("spliced", options: reading, environment: simulation.environment)
                .snapshot().contents()
        } catch let error as StoreError {
            #expect(error.code == .damaged, "\(error)")
            return nil
        }
    }

    private func isWell(_ bytes: [UInt8]) throws -> Bool {
        try simulation.disk.install(bytes, at: "spliced")
        defer { try? simulation.disk.remove("spliced") }
        return try Store.check("spliced", options: options, environment: simulation.environment)
            .findings.isEmpty
    }

    /// The first copy with a range of bytes of the second.
    private func spliced(_ range: Range<Int>) -> [UInt8] {
        var bytes = first.bytes
        bytes.replaceSubrange(range, with: second.bytes[range])
        return bytes
    }

    @Test func theCopiesThemselvesAreGood() throws {
        #expect(first.bytes.count == second.bytes.count && first.bytes != second.bytes)
        #expect(first.commits.map(\.offset) == second.commits.map(\.offset))
        #expect(try contents(of: first.bytes) == first.states.last)
        #expect(try contents(of: second.bytes) == second.states.last)
        #expect(try isWell(first.bytes) && isWell(second.bytes))
    }

    @Test func aChunkOfTheOtherCopyDoesNotOpen() throws {
        let own = first.chunks.filter { $0.chunk.offset >= UInt64(parting) }
        #expect(own.contains { $0.kind == .value } && own.contains { $0.kind == .operations })
        for (chunk, kind) in own {
            let bytes = spliced(Int(chunk.offset)..<Int(chunk.end))
            let found = try contents(of: bytes)
            #expect(found == nil || found == first.states.last, "a \(kind) at \(chunk.offset)")
            #expect(try !isWell(bytes), "a \(kind) at \(chunk.offset)")
        }
    }

    @Test func aCommitOfTheOtherCopyIsRefused() throws {
        let own = first.commits.filter { $0.start >= UInt64(parting) }
        #expect(own.count >= 4)
        for record in own.dropLast() {
            for start in [record.start, record.offset] {
                let bytes = spliced(Int(start)..<Int(record.end))
                let found = try contents(of: bytes)
                #expect(try found == nil || first.states.contains(#require(found)), "at \(start)")
                #expect(try !isWell(bytes), "at \(start)")
            }
        }
    }

    /// From the place on where the copies part, all of the other copy: that is the other copy. From later on, no mixture.
    @Test func theEndOfTheOtherCopyIsRefused() throws {
        #expect(try contents(of: spliced(parting..<first.bytes.count)) == second.states.last)
        for record in first.commits where record.start > UInt64(parting) {
            let found = try contents(of: spliced(Int(record.start)..<first.bytes.count))
            #expect(try found == nil || first.states.contains(#require(found)), "from \(record.start)")
        }
    }

    @Test func commitsThatChangePlacesOrAreLeftOutAreRefused() throws {
        let own = first.commits.filter { $0.start >= UInt64(parting) }
        let (one, two) = (own[0], own[1])
        try #require(one.end - one.start == two.end - two.start)
        let (a, b) = (Int(one.start)..<Int(one.end), Int(two.start)..<Int(two.end))
        var swapped = first.bytes
        swapped.replaceSubrange(a, with: first.bytes[b])
        swapped.replaceSubrange(b, with: first.bytes[a])
        var shortened = first.bytes
        shortened.removeSubrange(a)
        for bytes in [swapped, shortened] {
            let found = try contents(of: bytes)
            #expect(try found == nil || first.states.contains(#require(found)))
            #expect(try !isWell(bytes))
        }
    }

    /// Whatever bit of a record is changed, reserved ones included, though its checksum is made right.
    @Test func everyBitOfARecordIsAuthenticated() throws {
        let file = try StoreOpener(path: "first", options: options, environment: simulation.environment)
            .openFile(.readOnly)
        let record = try #require(first.commits.last)
        let place = Int(record.offset)
        for byte in 0..<CommitRecord.size - 8 {
            var bytes = first.bytes
            bytes[place + byte] ^= UInt8(1 << (byte % 8))
            let fields = Array(bytes[place..<place + CommitRecord.size - 8])
            let checksum = fields.withView { Checksum.of($0, seed: file.header.salt &+ record.offset) }
            for index in 0..<8 {
                bytes[place + CommitRecord.size - 8 + index] = UInt8(
                    truncatingIfNeeded: checksum >> (8 * UInt64(index)))
            }
            try simulation.disk.install(bytes, at: "changed")
            defer { try? simulation.disk.remove("changed") }
            let changed = try StoreOpener(
                path: "changed", options: options, environment: simulation.environment
            )
            .openFile(.readOnly)
            #expect(try LogScanner(file: changed).record(at: record.offset) == nil, "byte \(byte)")
        }
    }

    @Test func everyFieldOfTheHeaderIsAuthenticated() throws {
        let block = first.bytes[..<Format.blockSize]
        for change in [
            { $0.storeID[0] ^= 1 }, { $0.created ^= 1 }, { $0.generation ^= 1 },
            { $0.ignorableFeatures ^= 2 },
            { $0.readOnlyFeatures ^= 2 },
        ] as [(inout FileHeader) -> Void] {
            var header = try Array(block).withView { try FileHeader(decoding: $0, features: .max) }
            change(&header)
            let encoded = header.encoded()
            let changed = withExtendedLifetime(encoded) { encoded.view.array }
            #expect(try contents(of: changed + changed + first.bytes[(2 * Format.blockSize)...]) == nil)
        }
    }
}
