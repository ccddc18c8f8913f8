import RoostBytes
import RoostCrypto
import RoostFile

/// How a blob is written.
package struct BlobWriteOptions: Sendable {
    /// What the blob is named by. Default: SHA-1, as Couchbase Lite and CouchDB's replication do.
    package var algorithm = BlobDigest.Algorithm.sha1
    /// Whether to compute MD5 alongside, which CouchDB names attachments by. Default: false.
    package var computesMD5 = false
    /// Whether to store the content as gzip, where the layout allows it. Default: false.
    package var compresses = false
    /// Whether what is written is gzip already (one member of RFC 1952), to be kept as it is where the layout allows it.
    /// Digest and length are those of what it decompresses to. Default: false.
    package var isCompressed = false
    /// The most bytes that the content may have, however few it is compressed to. Default: no limit.
    package var longest = UInt64.max

    package init() {}
}

/// A blob that is in the store, durably.
package struct InstalledBlob: Sendable {
    package let digest: BlobDigest
    /// The MD5 of the content, where it was asked for.
    package let md5: [UInt8]?
    /// The MD5 of what is stored, where it was asked for and the content is stored as gzip.
    package let storedMD5: [UInt8]?
    /// The length of the content in bytes.
    package let length: UInt64
    /// How it is stored, which need not be as was asked if it was there before.
    package let encoding: BlobEncoding
    /// The length of what is stored.
    package let storedLength: UInt64
    /// Whether the store had it already.
    package let wasThere: Bool
    /// Keeps it in the store until something that lasts refers to it.
    package let pin: BlobPin
    /// Removes it at its end unless something refers to it then; `nil` where that was not asked for.
    package let hold: BlobHold?
}

/// Writes a blob whose length and digest need not be known before. Ends with ``install()``; without that, nothing
/// is left of it. Memory does not depend on the length.
///
/// Belongs to one task at a time.
package final class BlobFileWriter {
    private let store: BlobStore
    private let options: BlobWriteOptions
    private let layout: BlobLayout
    private let generation: Int
    private let temporary: String
    private let file: any File
    private let sink: any ByteSink
    private let storedDigest: DigestingSink?
    private let deflater: Deflater?
    private let inflater: Inflater?
    private let encoding: BlobEncoding
    private var hasher: BlobHasher
    /// The length of the content so far: of what it decompresses to, where gzip is written.
    package private(set) var length: UInt64 = 0
    private var storedLength: UInt64 = 0
    private var isOpen = true

    package init(_ store: BlobStore, _ options: BlobWriteOptions = BlobWriteOptions()) throws(BlobError) {
        self.store = store
        self.options = options
        (layout, generation) = store.state.withLock { ($0.layouts[0], $0.generation) }
        (file, temporary) = try store.makeTemporary(store.access)
        hasher = BlobHasher(options.algorithm, withMD5: options.computesMD5)
        inflater = options.isCompressed ? Inflater() : nil
        encoding = (options.compresses || options.isCompressed) && layout.allowsEncoding ? .gzip : .identity
        deflater = encoding == .gzip && !options.isCompressed ? Deflater() : nil
        let plainSink = layout.makeSink(file)
        storedDigest = options.computesMD5 && encoding == .gzip ? DigestingSink(plainSink) : nil
        sink = storedDigest ?? plainSink
    }

    deinit { close() }

    /// Adds `bytes` to the content, or to its gzip. After an error nothing can be added and nothing installed.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        try checkOpen()
        try orClose { () throws(BlobError) in
            guard let inflater else { return unsafe try add(bytes, isStored: true) }
            unsafe try inflater.write(bytes) { (content) throws(BlobError) in
                unsafe try add(content, isStored: encoding == .identity)
            }
            if encoding == .gzip { unsafe try store(bytes) }
        }
    }

    /// Counts and hashes a piece of the content, and stores it if that is the form in which it is stored.
    private func add(_ content: UnsafeRawBufferPointer, isStored: Bool) throws(BlobError) {
        guard UInt64(content.count) <= options.longest - length else {
            throw BlobError(.tooLong, "The content is longer than \(options.longest) bytes.")
        }
        unsafe hasher.update(content)
        length += UInt64(content.count)
        guard isStored else { return }
        if let deflater {
            storedLength += unsafe try deflater.write(content, to: sink)
        } else {
            unsafe try store(content)
        }
    }

    private func store(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        unsafe try sink.write(bytes)
        storedLength += UInt64(bytes.count)
    }

    /// Adds `bytes` to the content.
    package func write(_ bytes: [UInt8]) throws(BlobError) {
        try bytes.withView { (view) throws(BlobError) in unsafe try write(view.buffer) }
    }

    /// Puts the blob into the store: when this returns it is durable, under its digest.
    ///
    /// - Parameters:
    ///   - expected: The digest that the content must have, where that is known.
    ///   - isHeld: Whether it is stored for a document that may be refused: it gets a ``BlobHold``.
    /// - Throws: `contentChanged` if it has another, and what the medium says; the store is then as it was, except that
    ///   the blob may be there.
    package func install(
        expecting expected: BlobDigest? = nil, isHeld: Bool = false
    ) throws(BlobError) -> InstalledBlob {
        try checkOpen()
        defer { close() }
        try inflater?.finish()
        if let deflater { storedLength += try deflater.finish(to: sink) }
        let (digest, md5) = hasher.finish()
        if let expected, expected != digest {
            throw BlobError(.contentChanged, "The content has the digest \(digest), not \(expected).")
        }
        try sink.finish(
            SealedFacts(digest: digest, encoding: encoding, storedLength: storedLength, contentLength: length)
        )
        if !BlobFailpoint.unsyncedBlob.isActive { try medium { () throws(FileError) in try file.sync() } }
        let pin = store.pin(digest)
        let hold = isHeld ? store.hold(digest) : nil
        // A damaged file counts, too: documents may name it.
        let isNew = isHeld ? try !store.contains(digest) : false
        let (present, stays) = try store.install(
            temporary, digest, encoding, layout, generation, length: length)
        if isNew { store.noteNew(digest) }
        let kept = stays ? present : nil
        let storedMD5 = if let kept { try storedMD5(of: kept) } else { storedDigest?.digest }
        return InstalledBlob(
            digest: digest, md5: md5, storedMD5: storedMD5, length: length,
            encoding: kept?.encoding ?? encoding, storedLength: kept?.storedLength ?? storedLength,
            wasThere: present != nil, pin: pin, hold: hold)
    }

    private func storedMD5(of present: BlobFileReader) throws(BlobError) -> [UInt8]? {
        options.computesMD5 ? try present.storedMD5() : nil
    }

    /// Gives up what was written, unless it was installed. Closing twice does nothing.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        // Installing has renamed it; and what cannot be removed now is swept at the next open.
        try? store.medium.remove(temporary)
    }

    private func checkOpen() throws(BlobError) {
        guard isOpen else {
            throw BlobError(.closed, "The blob was installed, or given up. Begin a new one.")
        }
    }

    private func orClose(_ body: () throws(BlobError) -> Void) throws(BlobError) {
        do throws(BlobError) {
            try body()
        } catch {
            close()
            throw error
        }
    }
}

extension BlobLayout {
    func makeSink(_ file: any File) -> any ByteSink {
        switch self {
        case .plain: PlainSink(file)
        case .sealed(let keys): SealedSink(file, keys)
        case .couchbaseLite(let key): CompatibleSink(file, key)
        }
    }
}

// MARK: - ByteSink

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
