import RoostBytes

/// What happens to the payload of each chunk on its way to the file and back: encryption, in practice.
///
/// The engine hands in what must be bound to the bytes: the chunk's kind and offset, so that it does not open at another
/// place, and a number of the history that it was written in (``WritingHistory``), so that it does not open in a copy of
/// the file that was written on separately. Implementations are used from many threads at once.
package protocol ChunkTransform: Sendable {
    /// How many bytes longer a sealed payload is. The same for every payload.
    var overhead: Int { get }
    /// Appends `plaintext` in its sealed form, exactly ``overhead`` bytes longer, to `output`.
    func seal(_ plaintext: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer)
    /// Appends the plaintext of `sealed` to `output`; `false` when it is not what was sealed there.
    func open(
        _ sealed: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer
    ) -> Bool
    /// A tag over the file's header, or over that tag and a commit record. The engine keeps its first 16 bytes.
    func authenticate(_ bytes: ByteView) -> [UInt8]
}

/// Leaves payloads as they are. It stands in ``ChunkCodec`` where a file has no transform, and is not asked there.
struct NoTransform: ChunkTransform {
    let overhead = 0

    func seal(
        _ plaintext: ByteView, kind _: UInt8, offset _: UInt64, history _: UInt64, into output: ByteBuffer
    ) {
        output.append(plaintext)
    }

    func open(
        _ sealed: ByteView, kind _: UInt8, offset _: UInt64, history _: UInt64, into output: ByteBuffer
    ) -> Bool {
        output.append(sealed)
        return true
    }

    func authenticate(_: ByteView) -> [UInt8] { [] }
}
