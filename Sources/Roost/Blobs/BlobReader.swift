import RoostBlobs

/// Reads a blob, from the beginning on or anywhere, in constant memory. Belongs to one task at a time.
public final class BlobReader {
    private let reader: BlobFileReader

    init(_ reader: BlobFileReader) { self.reader = reader }

    /// The digest of the content: `sha1-` and base64.
    public var digest: String { reader.digest.description }

    /// The length of the content in bytes.
    public var length: UInt64 { reader.length }

    /// How many bytes are stored where the content is stored as gzip; else `nil`.
    package var gzipLength: UInt64? { reader.encoding == .gzip ? reader.storedLength : nil }

    /// Reads what is stored at `offset`, gzip where it is; returns how many bytes were read, fewer than asked at the end only.
    package func readStored(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(DatabaseError) -> Int {
        try translating { () throws(BlobError) in unsafe try reader.readStored(into: buffer, at: offset) }
    }

    /// The offset of the byte that is read next; setting it seeks.
    public var position: UInt64 {
        get { reader.position }
        set { reader.position = newValue }
    }

    /// Reads at ``position`` and moves on; returns how many bytes were read, fewer than asked at the end only.
    ///
    /// - Throws: `damaged` when the bytes are not those that were written (in an encrypted database always found, in
    ///   another one by ``verify()``); `inputOutput`.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(DatabaseError) -> Int {
        try translating { () throws(BlobError) in unsafe try reader.read(into: buffer) }
    }

    /// The whole content, verified.
    ///
    /// - Throws: `damaged`, `inputOutput`.
    public func readAll() throws(DatabaseError) -> [UInt8] {
        try translating { () throws(BlobError) in try reader.readAll() }
    }

    /// Calls `body` with the content from ``position`` to the end, piece by piece.
    ///
    /// - Throws: `damaged`, `inputOutput`, what `body` throws.
    public func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = unsafe try buffer.withUnsafeMutableBytes { unsafe try read(into: $0) }
            if count == 0 { return }
            unsafe try buffer.withUnsafeBytes {
                unsafe try body(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
        }
    }

    /// Reads everything and compares it with the digest.
    ///
    /// - Throws: `damaged`, `inputOutput`.
    public func verify() throws(DatabaseError) {
        try translating { () throws(BlobError) in try reader.verify() }
    }
}
