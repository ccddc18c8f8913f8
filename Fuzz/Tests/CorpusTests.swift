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

    /// Does what a target does on a thread of its own: it blocks its thread, and what it waits for may need one of those that run tasks,
    /// of which there are as many as processors.
    private static func onItsOwnThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws
        -> R
    {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<R, any Error>) in
            let thread = Thread { continuation.resume(with: Result { try body() }) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func everyKeptInputIsAnsweredAsItShouldBe(name: String) async throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Self.inputs(of: target.corpus)
        #expect(inputs.count > 1)
        for input in inputs {
            let bytes = [UInt8](try Data(contentsOf: input))
            await #expect(throws: Never.self, "\(input.lastPathComponent)") {
                try await Self.onItsOwnThread { try target.run(bytes) }
            }
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func everySeedIsAnsweredAsItShouldBe(name: String) async throws {
        let target = try #require(FuzzTarget.named(name))
        let seeds = try await Self.onItsOwnThread { try target.seeds() }
        #expect(!seeds.isEmpty)
        for seed in seeds { try await Self.onItsOwnThread { try target.run(seed) } }
    }
}
