import Foundation
import RoostCampaign
import RoostStorage
import Testing

/// FileFormat.md suffices to read stores: a reader written from it alone finds what the engine finds.
@Suite struct PythonReaderTests {
    @Test(arguments: FormatSample.allCases)
    func readerListsWhatTheEngineLists(sample: FormatSample) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let store = try Store.open(path, options: sample.options)
        try sample.fill(store)
        let listing = try expectSameListing(path, store.snapshot())
        for construct in sample.constructs { #expect(listing.met[construct] ?? 0 > 0, "\(construct)") }
        try store.close()
        let reopened = try Store.open(path, options: sample.readingOptions)
        try expectSameListing(path, reopened.snapshot())
    }

    /// What random work, crashes and compactions on the simulated disk leave in a file.
    @Test(arguments: 0..<6 as Range<UInt64>) func readerListsWhatTheSimulationLeft(seed: UInt64) throws {
        let campaign = Campaign(seed: 1000 + seed)
        try #require(campaign.run().finding == nil)
        guard !campaign.settings.isEncrypted else { return }
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        try Data(try #require(campaign.file)).write(to: URL(fileURLWithPath: path))
        var options = StoreOptions()
        options.isReadOnly = true
        options.reductions = [.keyBytes]
        try expectSameListing(path, try Store.open(path, options: options).snapshot())
    }

    /// Files from before leaves were packed.
    @Test(arguments: ["plain", "compressed", "compacted", "logged"])
    func readerListsGoldenFiles(form: String) throws {
        let path = PythonReader.repository.appendingPathComponent(
            "Tests/RoostStorageTests/Golden/v1-\(form).roost"
        ).path
        var options = StoreOptions()
        options.isReadOnly = true
        options.reductions = [.keyBytes]
        let listing = try expectSameListing(path, try Store.open(path, options: options).snapshot())
        #expect(listing.met["packed leaf"] == nil)
    }

    @Test func readerStepsBackOverATornCommit() throws {
        let (directory, path) = try smallStore()
        defer { withExtendedLifetime(directory) {} }
        let whole = try PythonReader.list(path)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let end = try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 0x52, count: 10_000))
        #expect(try PythonReader.list(path) == whole)

        // Without the last block, which the closing record fills, the commit before is the last one.
        try file.truncate(atOffset: end - 4096)
        let shorter = try PythonReader.list(path)
        #expect(shorter.commit == whole.commit - 1)
        #expect(shorter.trees == whole.trees)
    }

    @Test func readerUsesTheCopyOfADamagedHeader() throws {
        let (directory, path) = try smallStore()
        defer { withExtendedLifetime(directory) {} }
        let whole = try PythonReader.list(path)
        try overwrite(path, at: 80, with: [0xff])
        #expect(try PythonReader.list(path) == whole)
    }

    @Test func readerFindsADamagedValue() throws {
        let (directory, path) = try smallStore()
        defer { withExtendedLifetime(directory) {} }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(bytes.range(of: Data(repeating: 0x77, count: 500)))
        try overwrite(path, at: UInt64(place.lowerBound + 9), with: [0x78])
        let (status, output) = try PythonReader.run("roost_reader.py", path)
        #expect(status == 1)
        #expect(String(decoding: output, as: UTF8.self).contains("wrong checksum"))
    }

    /// A closed store with an entry whose value stands in a chunk, of 500 bytes 0x77.
    private func smallStore() throws -> (TemporaryDirectory, String) {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let store = try Store.open(path)
        let tree = try store.tree("letters")
        try store.write { try $0.put("w", [UInt8](repeating: 0x77, count: 500), in: tree) }
        try store.close()
        return (directory, path)
    }

    private func overwrite(_ path: String, at offset: UInt64, with bytes: [UInt8]) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    @discardableResult
    private func expectSameListing(_ path: String, _ snapshot: Snapshot) throws -> StoreListing {
        let found = try PythonReader.list(path)
        let expected = try StoreListing(snapshot)
        #expect(found.commit == expected.commit)
        #expect(found.trees.map(\.entries.count).sorted() == expected.trees.map(\.entries.count).sorted())
        #expect(found.content == expected.content)
        return found
    }
}
