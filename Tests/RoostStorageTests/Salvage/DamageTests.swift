import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostBytes
@testable import RoostStorage

/// Every byte of a small store changed, and every length it can be cut to: the right data or a clear error, never a
/// trap; and salvage keeps what the damage did not touch.
@Suite struct DamageTests {
    /// The kinds of file that there are.
    enum Form: CaseIterable {
        case plain
        case compressed
        case encrypted
        case compressedAndEncrypted
    }

    /// A small file and the states it went through.
    struct Subject {
        var options = StoreOptions()
        /// After closing, and before.
        let bytes: [UInt8]
        let open: [UInt8]
        let chunks: [(chunk: ChunkReference, kind: ChunkKind)]
        let records: [CommitRecord]
        /// By the number of the commit.
        var states: [UInt64: [String: Model]] = [:]
        var newest: [String: Model] = [:]

        init(_ form: Form) throws {
            options.nodeSize = 1024
            if form == .compressed || form == .compressedAndEncrypted { options.compression = 6 }
            if form == .encrypted || form == .compressedAndEncrypted { options.transform = SimulatedCipher() }
            options.compactsAutomatically = false
            options.inlineLimit = 8
            options.cacheSize = 1 << 14
            options.durability = .relaxed(interval: 3600)
            let disk = Simulation(seed: 1)
            let store = try Store.open("store", options: options, environment: disk.environment)
            states[store.snapshot().commit.number] = [:]
            for number in 0..<4 {
                let transaction = try store.beginWriting()
                let tree = try transaction.tree("tree")
                for key in 0..<9 {
                    let length = key % 3 == 0 ? 4 : key == 7 ? 300 : 20
                    let value = [UInt8](repeating: UInt8(number * 16 + key), count: length)
                    try transaction.put(Key("key-\(key * (number + 1) % 13)"), value, in: tree)
                }
                let policy: StoreTransaction.CheckpointPolicy = number == 2 ? .always : .ifNeeded
                if let ticket = try transaction.stage(policy) { try transaction.queue.makeDurable(ticket) }
                states[store.snapshot().commit.number] = try store.snapshot().contents()
            }
            newest = try store.snapshot().contents()
            open = Array(
                try #require(disk.disk.contents(of: "store")).prefix(Int(store.snapshot().state.record.end)))
            let (number, file) = (store.snapshot().commit.number, store.state.file)
            try store.close()
            states[number + 1] = newest
            bytes = try #require(disk.disk.contents(of: "store"))
            var records: [CommitRecord] = []
            var chunks: [(ChunkReference, ChunkKind)] = []
            var stream = CommitStream(file: file, after: nil)
            while let record = try stream.next() {
                records.append(record)
                var scan = ChunkScan(file: file, from: record.start, to: record.offset)
                while let item = try scan.next() {
                    if case .chunk(let chunk, let kind) = item { chunks.append((chunk, kind)) }
                }
            }
            self.records = records
            self.chunks = chunks
        }

        func kind(at offset: Int) -> ChunkKind? {
            chunks.first { $0.chunk.offset <= UInt64(offset) && UInt64(offset) < $0.chunk.end }?.kind
        }

        var reading: StoreOptions {
            var options = options
            options.isReadOnly = true
            return options
        }
    }

    private static let parts = 4

    @Test(arguments: Form.allCases, 0..<parts)
    func everyFlippedByteEndsInRightDataOrAnError(form: Form, part: Int) throws {
        let subject = try Subject(form)
        let disk = Simulation(seed: 2)
        for offset in stride(from: part, to: subject.bytes.count, by: Self.parts) {
            var bytes = subject.bytes
            bytes[offset] ^= UInt8(1 << (offset / Self.parts % 8))
            // Of the zeros that fill blocks up, one in some is enough.
            let isFilling = subject.kind(at: offset) == nil && subject.bytes[offset] == 0
            if isFilling, offset / Self.parts % 16 != 0 { continue }
            let path = "store-\(offset)"
            try disk.disk.install(bytes, at: path)
            try read(path, disk, subject)
            let report = try Store.check(path, options: subject.options, environment: disk.environment)
            #expect(!report.findings.isEmpty, "nothing found at \(offset)")
            try salvage(path, disk, subject, report, offset)
            for name in [path, "new"] { try? disk.disk.remove(name) }
        }
    }

    /// Opening and reading gives what was there when the file was closed, or an error about the damage.
    private func read(_ path: String, _ disk: Simulation, _ subject: Subject) throws {
        do {
            let store = try Store.open(path, options: subject.reading, environment: disk.environment)
            let snapshot = store.snapshot()
            #expect(try snapshot.contents() == subject.newest)
            for commit in try store.history.commits() {
                #expect(try store.snapshot(at: commit).contents() == subject.states[commit.number])
            }
        } catch let error as StoreError {
            #expect(error.code == .damaged, "\(error)")
        }
    }

    private func salvage(
        _ path: String, _ disk: Simulation, _ subject: Subject, _ report: CheckReport, _ offset: Int
    ) throws {
        _ = try Store.salvage(path, to: "new", options: subject.options, environment: disk.environment)
        let store = try Store.open("new", options: subject.reading, environment: disk.environment)
        #expect(try store.check().findings == [])
        let found = try store.snapshot().contents()["tree"] ?? Model()
        let expected = subject.newest["tree"] ?? Model()
        let different = expected.entries.filter { found.entries[$0.key] != $0.value }.count
        switch subject.kind(at: offset) {
        case .value: #expect(different <= 1, "at \(offset)")
        case .operations: #expect(different <= 9, "at \(offset)")
        default: #expect(found == expected, "at \(offset)")
        }
    }

    @Test(arguments: Form.allCases) func everyLengthRecoversToACommit(form: Form) throws {
        let subject = try Subject(form)
        let disk = Simulation(seed: 3)
        var numbers: Set<UInt64> = []
        for length in 0...subject.bytes.count
        where length % 7 == 0 || length % 4096 < 2 || length % 4096 > 4094 {
            let path = "store-\(length)"
            try disk.disk.install(Array(subject.bytes.prefix(length)), at: path)
            let expected = subject.records.last { $0.end <= UInt64(length) }
            if let expected, length % 4096 < 2 {
                let report = try Store.check(path, options: subject.options, environment: disk.environment)
                let isWhole = length == subject.bytes.count
                #expect(report.findings.isEmpty == isWhole, "length \(length), \(expected.number)")
            }
            do {
                let store = try Store.open(path, options: subject.options, environment: disk.environment)
                #expect(store.snapshot().commit.number == expected?.number, "length \(length)")
                #expect(store.ending.isClean == (length == subject.bytes.count), "length \(length)")
                let part = subject.bytes[Int(store.ending.offset)..<length]
                #expect(
                    store.ending.bytesBehind
                        == UInt64(part.lastIndex { $0 != 0 }.map { $0 + 1 - part.startIndex } ?? 0))
                #expect(try store.snapshot().contents() == subject.states[store.snapshot().commit.number])
                #expect(try store.check().findings == [])
                numbers.insert(store.snapshot().commit.number)
            } catch let error as StoreError {
                #expect(expected == nil)
                #expect([.damaged, .notAStore].contains(error.code))
            }
            try? disk.disk.remove(path)
        }
        #expect(numbers == Set(subject.records.map(\.number)))
    }

    /// Of a file that was not closed nobody can tell a damaged last commit from one that a crash tore: opening shows the state
    /// before it and says, as the check does, that there is more.
    @Test(arguments: Form.allCases) func damageToTheLastCommitOfAnOpenFileIsTold(form: Form) throws {
        let subject = try Subject(form)
        let disk = Simulation(seed: 4)
        let last = try #require(subject.records.last { $0.kind != .cleanShutdown })
        for offset in Int(last.start)..<subject.open.count where subject.open[offset] != 0 {
            var bytes = subject.open
            bytes[offset] ^= 0x10
            try disk.disk.install(bytes, at: "store")
            let report = try Store.check("store", options: subject.options, environment: disk.environment)
            #expect(
                report.findings.contains { $0.what.contains("after the last whole commit") }, "at \(offset)")
            let store = try Store.open("store", options: subject.reading, environment: disk.environment)
            #expect(try store.snapshot().contents() == subject.states[last.number - 1], "at \(offset)")
            #expect(!store.ending.isClean && store.ending.offset == last.start, "at \(offset)")
            #expect(store.ending.bytesBehind == UInt64(subject.open.count) - last.start, "at \(offset)")
            try disk.disk.remove("store")
        }
    }
}
