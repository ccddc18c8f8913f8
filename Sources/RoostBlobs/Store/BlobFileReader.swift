import RoostBytes
import RoostCrypto
import RoostFile

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

// MARK: - BlobFile

/// The file of a blob in a store's directory.
package struct BlobFile: Hashable, Sendable {
    /// Its name in the directory.
    package let name: String
    let layout: BlobLayout

    package static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Opens the file; `nil` when it has gone.
    ///
    /// - Throws: `damaged`, also for content that was damaged already when it was encrypted.
    func open(in store: BlobStore) throws(BlobError) -> BlobFileReader? {
        guard let stored = try openStored(in: store) else { return nil }
        guard !stored.isDamaged else {
            throw BlobError.damaged(stored.path, "its content was damaged already when it was encrypted")
        }
        return try BlobFileReader(stored)
    }

    /// Whether the file of this name in `store` is there and holds what it says, as far as its header can tell, where it has
    /// one; or wholly.
    func isReadable(in store: BlobStore, wholly: Bool) throws(BlobError) -> Bool {
        if !wholly, !layout.isAuthenticated { return true }
        do throws(BlobError) {
            guard let reader = try open(in: store) else { return false }
            return wholly ? try reader.isWhole() : true
        } catch {
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
            return false
        }
    }

    /// Opens the file for what is stored there, whatever it is; `nil` when it has gone.
    func openStored(in store: BlobStore) throws(BlobError) -> StoredBlob? {
        let path = store.path(name)
        let (file, size): (any File, UInt64)
        do throws(FileError) {
            file = try store.medium.open(path, .readOnly)
            size = try file.size()
        } catch {
            if error.code == .notFound { return nil }
            throw BlobError(error)
        }
        switch layout {
        case .plain:
            guard let (digest, encoding) = BlobName.read(name) else { return nil }
            return StoredBlob(digest, encoding, PlainSource(file, length: size), path: path)
        case .sealed(let keys):
            let source = try SealedSource(file, size: size, keys)
            // A file under a name that is not its own.
            guard keys.name(of: source.facts.digest) == name else {
                throw BlobError.damaged(path, "it holds another blob than its name says")
            }
            return StoredBlob(source.facts, source, path: path)
        case .couchbaseLite(let key):
            guard let digest = BlobName.read(name)?.digest else { return nil }
            return StoredBlob(
                digest, .identity, try CompatibleSource(file, size: size, key), path: path)
        }
    }
}

/// What the file of a blob stores, before it is decompressed.
struct StoredBlob {
    let digest: BlobDigest
    let encoding: BlobEncoding
    let source: any ByteSource
    /// The length of the content, where the file says it.
    let contentLength: UInt64?
    let path: String
    /// Whether what is read was authenticated; otherwise only the digest can tell.
    let isAuthenticated: Bool
    /// Whether the content is known not to be what the digest says.
    let isDamaged: Bool

    /// A file in which nothing is authenticated.
    init(_ digest: BlobDigest, _ encoding: BlobEncoding, _ source: any ByteSource, path: String) {
        self.digest = digest
        self.encoding = encoding
        self.source = source
        self.path = path
        contentLength = nil
        isAuthenticated = false
        isDamaged = false
    }

    /// A sealed file.
    init(_ facts: SealedFacts, _ source: any ByteSource, path: String) {
        digest = facts.digest
        encoding = facts.encoding
        self.source = source
        self.path = path
        contentLength = facts.contentLength
        isAuthenticated = true
        isDamaged = facts.isDamaged
    }
}

// MARK: - PlainFile

/// Writes a plain blob: its bytes and nothing else.
final class PlainSink: ByteSink {
    private let file: any File
    private let staging = Staging(limit: 256 << 10)
    private var offset: UInt64 = 0

    init(_ file: any File) { self.file = file }

    func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        if staging.view.isEmpty, bytes.count >= 64 << 10 { return unsafe try put(bytes) }
        var done = 0
        while done < bytes.count {
            unsafe done += staging.take(UnsafeRawBufferPointer(rebasing: bytes[done...]))
            if staging.isFull { try flush() }
        }
    }

    func finish(_ facts: SealedFacts) throws(BlobError) { try flush() }

    private func flush() throws(BlobError) {
        unsafe try put(staging.view.buffer)
        staging.clear()
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        try medium { () throws(FileError) in unsafe try file.writeFully(bytes, at: offset) }
        offset += UInt64(bytes.count)
    }
}

/// Reads a plain blob.
final class PlainSource: ByteSource {
    let length: UInt64
    private let file: any File

    init(_ file: any File, length: UInt64) {
        self.file = file
        self.length = length
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) {
        let count = try medium { () throws(FileError) in unsafe try file.readFully(into: buffer, at: offset) }
        guard count == buffer.count else { throw BlobError.damaged(file.path, "it was cut off") }
    }
}
