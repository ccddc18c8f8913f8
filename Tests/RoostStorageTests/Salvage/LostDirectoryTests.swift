import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// The root directory of a checkpoint is lost: the trees are found all the same.
@Suite struct LostDirectoryTests {
    private let simulation = Simulation(seed: 9)

    private func options(_ isEncrypted: Bool) -> StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.inlineLimit = 8
        options.compactsAutomatically = false
        if isEncrypted { options.transform = SimulatedCipher() }
        return options
    }

    private func fill(_ store: Store, _ number: UInt8, _ keys: Int = 40) throws {
        let transaction = try store.beginWriting()
        for name in ["catalog", "documents"] {
            let tree = try transaction.tree(name)
            for key in 0..<keys {
                try transaction.put(
                    Key("\(name)-\(key)"), [UInt8](repeating: number, count: key % 40), in: tree)
            }
        }
        try transaction.commit()
    }

    private func checkpoint(_ store: Store) throws {
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
    }

    /// Damages each root directory of `bytes` in turn, and expects `contents`.
    private func expectFound(
        _ contents: [String: Model], _ bytes: [UInt8], _ options: StoreOptions, directories: ClosedRange<Int>
    ) throws {
        try simulation.disk.install(bytes, at: "whole")
        let file = try StoreOpener(path: "whole", options: options, environment: simulation.environment)
            .openFile(.readOnly)
        var (stream, places) = (CommitStream(file: file, after: nil), [ChunkReference]())
        while let record = try stream.next() { places += record.directory.map { [$0] } ?? [] }
        #expect(directories.contains(places.count))
        for place in places {
            var flipped = bytes
            flipped[Int(place.end) - 1] ^= 1
            var zeroed = bytes
            let first = Int(place.offset) / Format.blockSize * Format.blockSize
            let block = first..<first + Format.blockSize
            zeroed.replaceSubrange(block, with: [UInt8](repeating: 0, count: block.count))
            // Of a block with more than the root directory in it, the rest is lost too.
            let isAlone = bytes[first..<Int(place.offset)].allSatisfy { $0 == 0 }
            for (damaged, isZeroed) in isAlone ? [(flipped, false), (zeroed, true)] : [(flipped, false)] {
                try simulation.disk.install(damaged, at: "damaged")
                var reading = options
                reading.isReadOnly = true
                let store = try Store.open("damaged", options: reading, environment: simulation.environment)
                #expect(try store.snapshot().contents() == contents, "\(place.offset), zeroed: \(isZeroed)")
                let report = try Store.check("damaged", options: options, environment: simulation.environment)
                #expect(!report.findings.isEmpty)
                _ = try Store.salvage(
                    "damaged", to: "rescued", options: options, environment: simulation.environment)
                let rescued = try Store.open("rescued", options: reading, environment: simulation.environment)
                #expect(try rescued.snapshot().contents() == contents)
                for path in ["damaged", "rescued", "rescued.lock"] { try? simulation.disk.remove(path) }
            }
        }
    }

    @Test(arguments: [false, true]) func afterACompactionAnotherOneLeadsToTheTrees(isEncrypted: Bool) throws {
        let options = options(isEncrypted)
        let store = try Store.open("store", options: options, environment: simulation.environment)
        for number in 1...3 as ClosedRange<UInt8> { try fill(store, number) }
        try store.compact()
        let contents = try store.snapshot().contents()
        try store.close()
        let bytes = try #require(simulation.disk.contents(of: "store"))
        try expectFound(contents, bytes, options, directories: 2...2)
    }

    @Test(arguments: [false, true]) func beforeThatAnEarlierOneAndTheLogDo(isEncrypted: Bool) throws {
        let options = options(isEncrypted)
        let store = try Store.open("store", options: options, environment: simulation.environment)
        for number in 1...4 as ClosedRange<UInt8> {
            try fill(store, number, 10 + Int(number))
            if number % 2 == 0 { try checkpoint(store) }
        }
        try fill(store, 5, 3)
        let contents = try store.snapshot().contents()
        try store.close()
        let bytes = try #require(simulation.disk.contents(of: "store"))
        try expectFound(contents, bytes, options, directories: 3...3)
    }
}
