import RoostBytes

/// What happens to the payload of each chunk on its way to the file and back: encryption, in practice.
///
/// The engine hands in the chunk's kind and offset so that they can be bound to the bytes: a chunk moved to another
/// place must not open there. Implementations are used from many threads at once.
package protocol ChunkTransform: Sendable {
    /// How many bytes longer a sealed payload is. The same for every payload.
    var overhead: Int { get }
    /// Appends `plaintext` in its sealed form, exactly ``overhead`` bytes longer, to `output`.
    func seal(_ plaintext: ByteView, kind: UInt8, offset: UInt64, into output: ByteBuffer)
    /// Appends the plaintext of `sealed` to `output`; `false` when it is not what was sealed there.
    func open(_ sealed: ByteView, kind: UInt8, offset: UInt64, into output: ByteBuffer) -> Bool
    /// A tag of at most 32 bytes over a commit record's fields.
    func authenticate(_ record: ByteView) -> [UInt8]
}
