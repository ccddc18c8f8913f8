import Foundation
import RoostCampaign
import Testing

@testable import RoostStorage

/// Files of every released version of the format open for ever, and show what they did when they were written.
///
/// Each is a store beside a list of what it holds. `make golden` writes those that are missing; none is ever written again.
@Suite(.serialized) struct GoldenFileTests {
    private static let folder = PythonReader.repository.appendingPathComponent(
        "Tests/RoostStorageTests/Golden")

    /// What the files are of, in their names.
    enum Form: String, CaseIterable {
        case plain, compressed, sealed, compacted, logged, empty
        /// As those that were written before leaves were packed.
        case packed, packedCompressed, packedSealed, packedCompacted
        /// With changes beside leaves.
        case changed
    }

    private static func options(_ form: String) -> StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.inlineLimit = 16
        options.compactsAutomatically = false
        options.reductions = [.keyBytes]
        if form.lowercased().hasSuffix("compressed") { options.compression = 6 }
        if form.lowercased().hasSuffix("sealed") { options.transform = SimulatedCipher() }
        return options
    }

    private static func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private func fill(_ store: Store, _ form: Form) throws {
        guard form != .empty else { return }
        let work = NumberedWork(seed: 3, tree: "numbered", largestValue: 600)
        for number in 1...8 as ClosedRange<UInt64> {
            try store.write { transaction in
                try work.apply(number, to: transaction)
                let reduced = try transaction.tree("reduced", reduction: .keyBytes)
                for key in 0..<20 as Range<UInt64> {
                    try transaction.put(Key(key * number), Key(number).bytes, in: reduced)
                }
            }
        }
        if form == .compacted || form == .packedCompacted { try store.compact() }
        guard form != .logged else { return }
        try checkpoint(store)
        guard form == .changed else { return }
        try store.write { transaction in
            let reduced = try transaction.tree("reduced")
            try transaction.put(Key(8), Key(1).bytes, in: reduced)
            try transaction.delete(Key(16), in: reduced)
        }
        try checkpoint(store)
    }

    private func checkpoint(_ store: Store) throws {
        if let ticket = try store.beginWriting().stage(.always) {
            try store.commitQueue().makeDurable(ticket)
        }
    }

    /// With `ROOST_WRITE_GOLDEN` in the environment files that are missing are written first.
    @Test(arguments: Form.allCases) func filesOfThePresentVersionAreKept(form: Form) throws {
        let name = "v\(Format.version)-\(form.rawValue)"
        let isWanted = ProcessInfo.processInfo.environment["ROOST_WRITE_GOLDEN"] != nil
        if isWanted, try !Self.names().contains(name) { try write(form, name) }
        #expect(try Self.names().contains(name))
    }

    private func write(_ form: Form, _ name: String) throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"), options: Self.options(form.rawValue))
        try fill(store, form)
        let listing = try StoreListing(store.snapshot())
        try store.close()
        try Data(FileBytes(path: directory.file("store")).read()).write(to: Self.url(name + ".roost"))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(listing).write(to: Self.url(name + ".json"))
    }

    private static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".roost") }.map { String($0.dropLast(6)) }.sorted()
    }

    @Test func everyGoldenFileShowsWhatItHolds() throws {
        let names = try Self.names()
        #expect(names.count >= Form.allCases.count)
        for name in names {
            let expected = try JSONDecoder().decode(
                StoreListing.self, from: try Data(contentsOf: Self.url(name + ".json")))
            var options = Self.options(String(name.split(separator: "-")[1]))
            options.isReadOnly = true
            let store = try Store.open(Self.url(name + ".roost").path, options: options)
            let found = try StoreListing(store.snapshot())
            #expect(found.trees == expected.trees, "\(name)")
            // Closing may have added a record of its own.
            #expect(found.commit >= expected.commit, "\(name)")
            #expect(try store.check().isClean, "\(name)")
            try goesOn(name, expected)
        }
    }

    /// A copy can be written to, and compacted.
    private func goesOn(_ name: String, _ expected: StoreListing) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        try FileManager.default.copyItem(at: Self.url(name + ".roost"), to: URL(fileURLWithPath: path))
        let store = try Store.open(path, options: Self.options(String(name.split(separator: "-")[1])))
        let tree = try store.tree("later")
        try store.write { try $0.put("key", [1], in: tree) }
        try store.compact()
        #expect(
            try StoreListing(store.snapshot()).trees.filter { $0.name != "later" } == expected.trees,
            "\(name)")
        #expect(try store.check().isClean, "\(name)")
        try store.close()
    }
}
