import RoostBytes
import RoostCrypto

/// Reads a blob, from the beginning on or anywhere. Goes on reading when the blob is removed meanwhile.
///
/// Belongs to one task at a time.
package final class BlobFileReader {
    package let digest: BlobDigest
    /// How the content is stored.
    package let encoding: BlobEncoding
    /// The length of the content in bytes.
    package var length: UInt64 { content.length }
    /// The length of what is stored, compressed where it is.
    package var storedLength: UInt64 { stored.length }
    /// The offset of the byte that is read next.
    package var position: UInt64 = 0
    /// Whether what is read was authenticated; otherwise only the digest can tell.
    let isAuthenticated: Bool
    private let path: String
    private let stored: any ByteSource
    private let content: any ByteSource

    init(_ blob: StoredBlob) throws(BlobError) {
        digest = blob.digest
        encoding = blob.encoding
        stored = blob.source
        path = blob.path
        isAuthenticated = blob.isAuthenticated
        content =
            blob.encoding == .gzip
            ? try GzipSource(blob.source, length: blob.contentLength, path: blob.path) : blob.source
    }

    /// Reads at ``position`` and moves on; returns how many bytes were read, fewer than asked at the end only.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int {
        guard position < length else { return 0 }
        let count = Int(min(UInt64(buffer.count), length - position))
        unsafe try content.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: position)
        position += UInt64(count)
        return count
    }

    /// Reads what is stored at `offset`, compressed where it is; returns how many bytes were read.
    package func readStored(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError)
        -> Int
    {
        guard offset < storedLength else { return 0 }
        let count = Int(min(UInt64(buffer.count), storedLength - offset))
        unsafe try stored.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        return count
    }

    /// Calls `body` with the content from ``position`` to the end, piece by piece.
    package func forEachPiece(
        _ body: (UnsafeRawBufferPointer) throws(BlobError) -> Void
    ) throws(BlobError) {
        let buffer = ByteBuffer(capacity: 512 << 10)
        buffer.resize(to: 512 << 10)
        while true {
            let count = unsafe try read(into: buffer.mutableBytes)
            if count == 0 { return }
            unsafe try body(buffer.view.slice(0, count).buffer)
        }
    }

    /// The whole content, verified against the digest where nothing else does.
    package func readAll() throws(BlobError) -> [UInt8] {
        position = 0
        var bytes = [UInt8](repeating: 0, count: Int(clamping: length))
        let result: Result<Int, BlobError> = unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(BlobError) {
                return .success(unsafe try read(into: buffer))
            } catch {
                return .failure(error)
            }
        }
        _ = try result.get()
        if !isAuthenticated {
            try check(unsafe bytes.withUnsafeBytes { unsafe BlobDigest(of: $0, digest.algorithm) })
        }
        return bytes
    }

    /// Reads everything and compares it with the digest.
    ///
    /// - Throws: `damaged`.
    package func verify() throws(BlobError) {
        position = 0
        var hasher = BlobHasher(digest.algorithm, withMD5: false)
        unsafe try forEachPiece { (bytes) throws(BlobError) in unsafe hasher.update(bytes) }
        try check(hasher.finish().digest)
    }

    /// Whether everything can be read and is what the digest says.
    func isWhole() throws(BlobError) -> Bool {
        do throws(BlobError) {
            try verify()
            return true
        } catch {
            guard error.code == .damaged else { throw error }
            return false
        }
    }

    /// The MD5 of the content. Reads everything.
    package func md5() throws(BlobError) -> [UInt8] {
        position = 0
        var md5 = MD5()
        unsafe try forEachPiece { (bytes) throws(BlobError) in unsafe md5.update(bytes) }
        return md5.finalize().bytes
    }

    /// The MD5 of the gzip that the content is stored as; `nil` where it is stored as it is. Reads everything.
    package func storedMD5() throws(BlobError) -> [UInt8]? {
        guard encoding == .gzip else { return nil }
        var md5 = MD5()
        let buffer = ByteBuffer(capacity: 512 << 10)
        buffer.resize(to: 512 << 10)
        var offset: UInt64 = 0
        while offset < storedLength {
            let count = unsafe try readStored(into: buffer.mutableBytes, at: offset)
            unsafe md5.update(buffer.view.slice(0, count).buffer)
            offset += UInt64(count)
        }
        return md5.finalize().bytes
    }

    private func check(_ found: BlobDigest) throws(BlobError) {
        guard found == digest else {
            throw BlobError.damaged(path, "its content is not what its digest says")
        }
    }
}
