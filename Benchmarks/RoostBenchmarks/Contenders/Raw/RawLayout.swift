/// How the raw limit reads.
enum RawReading: Sendable {
    case pread
    case mapping
}

/// A record of the raw limit: a header of 16 bytes (sequence, size), the ID, the value.
struct RawLayout: Sendable {
    static let headerSize = 16

    let valueSize: Int

    var recordSize: Int { Self.headerSize + DocumentID.size + valueSize }

    /// Writes one record.
    @inline(__always)
    func store(
        _ id: UnsafeRawPointer, _ value: UnsafeRawPointer, sequence: Int, at record: UnsafeMutableRawPointer
    ) {
        unsafe record.storeBytes(of: UInt64(sequence), as: UInt64.self)
        unsafe record.storeBytes(of: UInt64(valueSize), toByteOffset: 8, as: UInt64.self)
        unsafe (record + Self.headerSize).copyMemory(from: id, byteCount: DocumentID.size)
        unsafe (record + Self.headerSize + DocumentID.size).copyMemory(from: value, byteCount: valueSize)
    }

    /// Delivers the `count` records that start at `records`.
    @inline(__always)
    func deliver(_ records: UnsafeRawPointer, count: Int, into sink: inout Sink) {
        var id = unsafe records + Self.headerSize
        for _ in 0..<count {
            unsafe sink.accept(id: id, id + DocumentID.size, valueSize)
            unsafe id += recordSize
        }
    }
}
