import RoostBytes
import Testing

@testable import RoostStorage

/// Encrypting, decrypting and changing the key are compactions.
@Suite struct CompactionTransformTests {
    @Test func chunksAreTransformedAnew() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        var history = DocumentHistory(seed: 7)
        var options = DocumentHistory.options(seed: 7)
        let steps: [(CompactionOptions.Encryption, MaskFactory?)] = [
            (.replaced(MaskFactory(mask: 0x55)), MaskFactory(mask: 0x55)),
            (.unchanged, MaskFactory(mask: 0x55)),
            (.replaced(MaskFactory(mask: 0x77)), MaskFactory(mask: 0x77)),
            (.unchanged, MaskFactory(mask: 0x77)),
            (.none, nil),
            (.unchanged, nil),
        ]
        for (encryption, factory) in steps {
            let store = try Store.open(path, options: options)
            for _ in 0..<10 { try history.commit(to: store) }
            var compaction = CompactionOptions()
            compaction.encryption = encryption
            var commits = 0
            try store.compact(compaction) { _ in
                commits += 1
                return commits > 5 || (try? history.commit(to: store)) != nil
            }
            try history.content.check(store.snapshot())
            // The store goes on with what it was given, in its next compaction too.
            try store.compact()
            try history.commit(to: store)
            try history.content.check(store.snapshot())
            try store.close()
            if factory != nil {
                options.transform = nil
                let refusal = #expect(throws: StoreError.self) { try Store.open(path, options: options) }
                #expect(refusal?.code == .wrongKey)
            }
            options.transform = factory
            let again = try Store.open(path, options: options)
            try history.content.check(again.snapshot())
            try again.close()
        }
    }
}

/// Masks bytes and adds a checksum: stands for encryption where only its place matters.
private struct MaskFactory: ChunkTransformFactory {
    let mask: UInt8

    func open(parameters: [UInt8], fileID: [UInt8]) -> (any ChunkTransform)? {
        parameters == [mask] + fileID ? Mask(mask: mask) : nil
    }

    func create(
        fileID: [UInt8], after _: (any ChunkTransform)?
    ) -> (transform: any ChunkTransform, parameters: [UInt8]) {
        (Mask(mask: mask), [mask] + fileID)
    }
}

private struct Mask: ChunkTransform {
    let mask: UInt8
    var overhead: Int { 8 }

    func seal(
        _ plaintext: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer
    ) {
        for index in 0..<plaintext.count { output.append(plaintext[index] ^ mask) }
        output.append(integer: tag(plaintext, kind, offset ^ history))
    }

    func open(
        _ sealed: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer
    ) -> Bool {
        guard sealed.count >= overhead else { return false }
        let start = output.count
        for index in 0..<sealed.count - overhead { output.append(sealed[index] ^ mask) }
        return sealed.load(UInt64.self, at: sealed.count - 8)
            == tag(output.view.dropFirst(start), kind, offset ^ history)
    }

    func authenticate(_ bytes: ByteView) -> [UInt8] { Key(tag(bytes, 0, 0)).bytes }

    private func tag(_ bytes: ByteView, _ kind: UInt8, _ offset: UInt64) -> UInt64 {
        Checksum.of(bytes, seed: offset &* 256 &+ UInt64(kind) &+ UInt64(mask) << 40)
    }
}
