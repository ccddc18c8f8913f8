import Foundation
import Testing

/// The kept inputs, found ones among them, through the targets they are kept for.
@Suite struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Corpora")

    private static func inputs(of corpus: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder.appendingPathComponent(corpus), includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func everyKeptInputIsAnsweredAsItShouldBe(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Self.inputs(of: target.corpus)
        #expect(inputs.count > 1)
        for input in inputs {
            let bytes = [UInt8](try Data(contentsOf: input))
            #expect(throws: Never.self, "\(input.lastPathComponent)") { try target.run(bytes) }
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func everySeedIsAnsweredAsItShouldBe(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let seeds = try target.seeds()
        #expect(!seeds.isEmpty)
        for seed in seeds { try target.run(seed) }
    }
}
