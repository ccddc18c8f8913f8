import RoostBytes
import RoostCampaign
import Testing

@testable import RoostStorage

/// The integrity check finds nothing in whole stores, and every kind of damage where it is.
@Suite struct CheckTests {
    @Test(arguments: [true, false], [0, 1] as [Int32])
    func wholeStoreIsClean(checkpoints: Bool, compression: Int32) throws {
        let sample = try ExampleStore(checkpoints: checkpoints, compression: compression)
        let report = try Store.check(sample.path, options: sample.options)
        #expect(report.findings == [])
        #expect(report.isClean && report.isSound)
        #expect(report.trees == 2)
        #expect(report.entries == sample.models.values.reduce(0) { $0 + UInt64($1.entries.count) })
        #expect(report.commits == (try sample.file.commits().count))
        #expect(report.values > 100 && report.nodes > 10)
    }

    @Test func openStoreIsCheckedWhileItIsWritten() throws {
        let sample = try ExampleStore(checkpoints: false)
        let store = try Store.open(sample.path, options: sample.options)
        let tree = try store.tree("plain")
        let old = store.snapshot()
        for number in 0..<50 { try store.write { try $0.put(Key("new-\(number)"), [1, 2], in: tree) } }
        #expect(try store.check().findings == [])
        #expect(try old.check().findings == [])
        #expect(try old.check().commit < store.check().commit)
    }

    @Test func everyDamagedChunkIsFoundWhereItIs() throws {
        let sample = try ExampleStore(commits: 6)
        let whole = try sample.file.read()
        for (chunk, kind) in try sample.file.chunks() {
            try sample.file.flip(chunk.offset + UInt64(chunk.length) - 1)
            let report = try Store.check(sample.path, options: sample.options)
            #expect(report.findings.contains { $0.offset == chunk.offset }, "\(kind) at \(chunk.offset)")
            #expect(!report.isClean)
            try sample.file.write(whole)
        }
    }

    /// The tag says that what such a chunk holds is right, which is all that readers need.
    @Test(arguments: [ChunkKind.value, .node, .directory])
    func wrongChecksumOfAnAuthenticChunkIsFoundAndKeepsNobodyFromReading(kind: ChunkKind) throws {
        let sample = try ExampleStore(commits: 6, transform: SimulatedCipher())
        let newest = try #require(try sample.file.chunks(sample.options).last { $0.kind == kind }).chunk
        try sample.file.flip(newest.offset)
        let report = try Store.check(sample.path, options: sample.options)
        #expect(report.findings.map(\.offset) == [newest.offset])
        let store = try Store.open(sample.path, options: sample.options)
        defer { try? store.close() }
        #expect(try store.snapshot().contents() == sample.models)
    }

    /// Damage is told from what another key has sealed.
    @Test func damageToASealedChunkIsAWrongChecksum() throws {
        let sample = try ExampleStore(commits: 6, transform: SimulatedCipher())
        let newest = try #require(try sample.file.chunks(sample.options).last { $0.kind == .value }).chunk
        try sample.file.flip(newest.end - 1)
        let damaged = try Store.open(sample.path, options: sample.options)
        defer { try? damaged.close() }
        let error = #expect(throws: StoreError.self) { try damaged.snapshot().contents() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("a wrong checksum") == true)
    }

    @Test func damageToTheNewestStateIsAnErrorAndToOlderCommitsAWarning() throws {
        let sample = try ExampleStore(commits: 6)
        let directory = try #require(try sample.file.chunks().last { $0.kind == .directory }).chunk
        try sample.file.flip(directory.offset + 5)
        let broken = try Store.check(sample.path, options: sample.options)
        #expect(broken.findings.contains { $0.offset == directory.offset && $0.severity == .error })
        #expect(!broken.isSound)
        try sample.file.flip(directory.offset + 5)
        let old = try #require(try sample.file.chunks().first { $0.kind == .operations }).chunk
        try sample.file.flip(old.offset + 9)
        let aged = try Store.check(sample.path, options: sample.options)
        #expect(aged.findings.map(\.offset) == [old.offset])
        #expect(aged.findings.map(\.severity) == [.warning])
        #expect(aged.isSound && !aged.isClean)
        var newest = CheckOptions()
        newest.includesHistory = false
        #expect(try Store.check(sample.path, options: sample.options, checking: newest).findings == [])
    }

    @Test(arguments: [0, 4096] as [UInt64]) func damagedHeaderIsFound(offset: UInt64) throws {
        let sample = try ExampleStore(commits: 2)
        try sample.file.flip(offset + 700)
        let report = try Store.check(sample.path, options: sample.options)
        #expect(report.findings.map(\.offset) == [offset])
        try sample.file.flip(4096 - offset + 700)
        let lost = try Store.check(sample.path, options: sample.options)
        #expect(lost.findings.map(\.severity) == [.error])
    }

    @Test func brokenChainOfCommitsIsFoundAndFollowedOn() throws {
        let sample = try ExampleStore(commits: 6)
        let commits = try sample.file.commits()
        try sample.file.flip(commits[2].offset + 20)
        let report = try Store.check(sample.path, options: sample.options)
        #expect(report.findings.contains { $0.offset == commits[2].offset && $0.severity == .warning })
        #expect(report.commits == commits.count - 1)
    }

    @Test func bytesAfterTheEndAreNoticed() throws {
        let sample = try ExampleStore(commits: 2)
        let whole = try sample.file.read()
        try sample.file.write(whole + [UInt8](repeating: 0, count: 5000) + [1])
        let report = try Store.check(sample.path, options: sample.options)
        #expect(report.findings.map(\.offset) == [UInt64(whole.count + 5000)])
        #expect(report.isClean)
    }

    @Test func progressIsToldAndCanStop() throws {
        let sample = try ExampleStore(commits: 60)
        var fractions: [Double] = []
        _ = try Store.check(sample.path, options: sample.options) {
            fractions.append($0.fraction)
            return true
        }
        #expect(fractions.count > 1 && fractions == fractions.sorted())
        #expect(fractions.last.map { $0 > 0.5 } ?? false)
        let error = #expect(throws: StoreError.self) {
            try Store.check(sample.path, options: sample.options) { _ in false }
        }
        #expect(error?.code == .cancelled)
    }

    @Test func findingsAreLimited() throws {
        let sample = try ExampleStore(commits: 6)
        for (chunk, kind) in try sample.file.chunks() where kind == .value {
            try sample.file.flip(chunk.offset + UInt64(chunk.length) - 1)
        }
        var options = CheckOptions()
        options.maximumFindings = 5
        let report = try Store.check(sample.path, options: sample.options, checking: options)
        #expect(report.findings.count == 5)
        #expect(report.furtherFindings > 50)
    }
}
