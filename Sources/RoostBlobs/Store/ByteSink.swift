import RoostBytes
import RoostCrypto
import RoostFile

/// Takes the stored bytes of a new blob, in order, and writes them as its layout wants them. Belongs to one writer.
protocol ByteSink: AnyObject {
    func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError)
    /// Writes what is left; nothing is written afterwards. Does not sync.
    func finish(_ facts: SealedFacts) throws(BlobError)
}

/// Computes the MD5 of the stored bytes on their way to another sink.
final class DigestingSink: ByteSink {
    private let sink: any ByteSink
    private var md5 = MD5()

    init(_ sink: any ByteSink) { self.sink = sink }

    func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        unsafe md5.update(bytes)
        unsafe try sink.write(bytes)
    }

    func finish(_ facts: SealedFacts) throws(BlobError) { try sink.finish(facts) }

    /// The MD5 of what was written so far.
    var digest: [UInt8] { md5.finalize().bytes }
}

/// Gives the stored bytes of a blob, at any place. Belongs to one reader.
protocol ByteSource: AnyObject {
    /// How many bytes there are.
    var length: UInt64 { get }
    /// Fills `buffer` with the bytes from `offset` on, all of which are there.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError)
}

/// Collects bytes, so that the medium and the ciphers get large pieces.
struct Staging {
    private let buffer: ByteBuffer
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
        buffer = ByteBuffer(capacity: limit)
    }

    var view: ByteView { buffer.view }
    var isFull: Bool { buffer.count == limit }

    /// Takes as many of `bytes` as there is room for and returns how many.
    func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, limit - buffer.count)
        unsafe buffer.append(ByteView(UnsafeRawBufferPointer(rebasing: bytes[..<count])))
        return count
    }

    func clear() { buffer.reset() }

    /// Overwrites all that it ever held.
    func wipe() {
        buffer.resize(to: limit)
        unsafe buffer.mutableBytes.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.reset()
    }
}
