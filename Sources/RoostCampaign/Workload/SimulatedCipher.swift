import RoostBytes
import RoostSimulation
import RoostStorage

/// Stands for encryption where only its place matters: chunks look different, are longer, and open nowhere but where they
/// were sealed. Not secret in the least.
package struct SimulatedCipher: ChunkTransformFactory {
    /// Which of several keys new files are sealed with; all of them can be opened.
    let key: UInt8

    package init(key: UInt8 = 0) { self.key = key }

    package func open(parameters: [UInt8], fileID: [UInt8]) -> (any ChunkTransform)? {
        guard let key = parameters.first, Array(parameters.dropFirst()) == fileID else { return nil }
        return Transform(seed: UInt64(key) + 1)
    }

    package func create(
        fileID: [UInt8], after _: (any ChunkTransform)?
    ) -> (transform: any ChunkTransform, parameters: [UInt8]) {
        (Transform(seed: UInt64(key) + 1), [key] + fileID)
    }

    private struct Transform: ChunkTransform {
        let seed: UInt64
        var overhead: Int { 8 }

        func seal(
            _ plaintext: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer
        ) {
            append(plaintext, masked: offset, to: output)
            output.append(integer: tag(plaintext, kind, offset, history))
        }

        func open(
            _ sealed: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer
        ) -> Bool {
            guard sealed.count >= overhead else { return false }
            let start = output.count
            append(sealed.slice(0, sealed.count - overhead), masked: offset, to: output)
            let tag = tag(output.view.dropFirst(start), kind, offset, history)
            return sealed.load(UInt64.self, at: sealed.count - overhead) == tag
        }

        func authenticate(_ bytes: ByteView) -> [UInt8] { Key(tag(bytes, 0, 0, 0)).bytes }

        private func append(_ bytes: ByteView, masked offset: UInt64, to output: ByteBuffer) {
            let (start, mask) = (output.count, mask(offset))
            output.append(bytes)
            let masked = unsafe output.mutableBytes
            for index in start..<output.count { unsafe masked[index] ^= mask }
        }

        private func mask(_ offset: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: (offset &+ seed) &* 0x9E37_79B9_7F4A_7C15 >> 56)
        }

        private func tag(_ bytes: ByteView, _ kind: UInt8, _ offset: UInt64, _ history: UInt64) -> UInt64 {
            Checksum.of(bytes, seed: (offset &* 256 &+ UInt64(kind) &+ seed << 40) ^ history)
        }
    }
}
