import RoostBytes

extension ChunkCodec {
    /// What the first bytes of a chunk say of it, before anything is verified; `nil` where no chunk can begin.
    static func shape(of bytes: ByteView) -> (kind: ChunkKind, length: Int)? {
        guard bytes.count > 5, let kind = kind(bytes[4]) else { return nil }
        var reader = ByteReader(bytes.slice(5, min(bytes.count - 5, maximumHeaderLength - 5)))
        guard let length = try? reader.varint(), length <= UInt64(Format.maximumValueLength) * 2 else {
            return nil
        }
        return (kind, 5 + reader.position + Int(length))
    }

    /// Whether `chunk`, read at `offset`, has its checksum.
    func isWhole(_ chunk: ByteView, at offset: UInt64) -> Bool {
        chunk.count > 5 && chunk.load(UInt32.self, at: 0) == checksum(chunk, offset)
    }
}
