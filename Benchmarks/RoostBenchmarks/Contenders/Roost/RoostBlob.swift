import Glibc
import Roost

/// The blobs of a Roost database, plain or encrypted.
final class RoostBlob: BlobContender {
    private let database: Database
    private let isEncrypted: Bool
    private var reader: BlobReader?

    init(_ directory: String, key: EncryptionKey?) throws {
        var options = DatabaseOptions()
        options.key = key
        isEncrypted = key != nil
        database = try Database.open(directory, options: options)
    }

    func store(_ source: String) throws {
        let input = unsafe Glibc.open(source, O_RDONLY)
        defer { Glibc.close(input) }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        let writer = try database.makeBlobWriter()
        while true {
            let count = unsafe Glibc.read(input, &buffer, buffer.count)
            guard count >= 0 else { throw BenchmarkError("could not read \(source)") }
            if count == 0 { break }
            unsafe try buffer.withUnsafeBytes { bytes in
                unsafe try writer.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
        _ = try writer.finish()
    }

    func readChecked(_ body: (UnsafeRawBufferPointer) -> Void) throws {
        let reader = try opened()
        reader.position = 0
        // Frames are authenticated as they are read; plain bytes are compared with the digest.
        if isEncrypted { unsafe try reader.forEachPiece { unsafe body($0) } } else { try reader.verify() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        let reader = try opened()
        reader.position = UInt64(offset)
        guard unsafe try reader.read(into: buffer) == buffer.count else {
            throw BenchmarkError("the blob ends too early")
        }
    }

    func close() throws {
        reader = nil
        try database.close()
    }

    private func opened() throws -> BlobReader {
        if let reader { return reader }
        guard let digest = try database.blobs().first?.digest, let found = try database.blobReader(digest)
        else {
            throw BenchmarkError("a blob that was stored is missing")
        }
        reader = found
        return found
    }
}
