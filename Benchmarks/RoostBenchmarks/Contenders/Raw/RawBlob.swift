import Glibc
import RoostCrypto

/// A plain copy of a file with its SHA-1, which is computed on the way.
final class RawBlob: BlobContender {
    private static let pieceSize = 256 << 10

    private let path: String
    private var descriptor: Int32 = -1

    init(_ directory: String) { path = directory + "/copy" }

    func store(_ source: String) throws {
        let input = unsafe Glibc.open(source, O_RDONLY)
        let output = unsafe Glibc.open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        defer {
            Glibc.close(input)
            Glibc.close(output)
        }
        let digest = unsafe try Self.forEachPiece(of: input) { piece in
            guard unsafe Glibc.write(output, piece.baseAddress, piece.count) == piece.count else {
                throw BenchmarkError("could not write \(path)")
            }
        }
        guard fdatasync(output) == 0 else { throw BenchmarkError("could not sync \(path)") }
        let note = unsafe Glibc.open(path + ".sha1", O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        defer { Glibc.close(note) }
        let text = digest.description
        guard unsafe Glibc.write(note, text, text.utf8.count) == text.utf8.count else {
            throw BenchmarkError("could not write the digest of \(path)")
        }
    }

    func readChecked(_ body: (UnsafeRawBufferPointer) -> Void) throws {
        lseek(try opened(), 0, SEEK_SET)
        let digest = unsafe try Self.forEachPiece(of: descriptor) { unsafe body($0) }
        let note = unsafe Glibc.open(path + ".sha1", O_RDONLY)
        defer { Glibc.close(note) }
        var expected = [UInt8](repeating: 0, count: 40)
        _ = unsafe Glibc.read(note, &expected, 40)
        guard digest.description == String(decoding: expected, as: UTF8.self) else {
            throw BenchmarkError("the copy has another digest than the original")
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        guard unsafe pread(try opened(), buffer.baseAddress, buffer.count, offset) == buffer.count else {
            throw BenchmarkError("could not read \(path)")
        }
    }

    func close() { if descriptor >= 0 { Glibc.close(descriptor) } }

    private func opened() throws -> Int32 {
        if descriptor < 0 { descriptor = unsafe Glibc.open(path, O_RDONLY) }
        guard descriptor >= 0 else { throw BenchmarkError("could not open \(path)") }
        return descriptor
    }

    private static func forEachPiece(
        of descriptor: Int32, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Digest {
        var buffer = [UInt8](repeating: 0, count: pieceSize)
        var hash = SHA1()
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw BenchmarkError("could not read the blob's file") }
            if count == 0 { return hash.finalize() }
            unsafe try buffer.withUnsafeBytes { bytes in
                let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
                unsafe hash.update(piece)
                unsafe try body(piece)
            }
        }
    }
}
