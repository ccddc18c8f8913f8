import CRoostZlib
import RoostBytes

/// Writes and reads chunks: `checksum (4) | kind and flags (1) | payload length (varint) | payload`.
///
/// The checksum is the low half of that of everything after it, seeded with the file's salt plus the chunk's
/// offset, so that a chunk read from a wrong place does not verify.
final class ChunkCodec: Sendable {
    /// The longest header: checksum, kind, and a length of up to 2^30 and a little.
    static let maximumHeaderLength = 10
    /// Payloads shorter than this are not worth a call to zlib.
    private static let minimumToCompress = 256

    private static let compressedFlag: UInt8 = 0x10
    private static let sealedFlag: UInt8 = 0x20

    /// What the payload of a chunk is, before anything is encrypted or compressed.
    enum Form: UInt8 {
        /// What the chunk's kind says.
        case plain = 0
        /// A leaf in its packed form (``PackedLeaf``).
        case packed = 0x40
        /// What changed of a leaf (``LeafChanges``).
        case changes = 0x80

        static let mask: UInt8 = 0xc0
    }

    let salt: UInt64
    /// What chunks are bound to besides their place.
    let history = WritingHistory()
    /// The transform's tag of the file's header, which each record's tag covers.
    private let headerTag: [UInt8]
    /// Whether chunks are transformed.
    let isTransformed: Bool
    /// What transforms them, if anything does. Not optional: unwrapping it would count a reference that the readers on all
    /// threads share.
    private let sealing: any ChunkTransform
    private let overhead: Int

    init(_ header: FileHeader, transform: (any ChunkTransform)?) {
        salt = header.salt
        let block = header.encoded()
        headerTag = transform.map { $0.authenticate(block.view.slice(0, Format.blockSize - 8)) } ?? []
        extendLifetime(block)
        isTransformed = transform != nil
        sealing = transform ?? NoTransform()
        overhead = transform?.overhead ?? 0
    }

    /// What transforms the chunks; `nil` where nothing does.
    var transform: (any ChunkTransform)? { isTransformed ? sealing : nil }

    /// The tag of a record's fields; zeros without a transform.
    func tag(of record: ByteView) -> [UInt8] {
        guard isTransformed else { return CommitRecord.noTag }
        let tag = (headerTag + record.array).withView { sealing.authenticate($0) }
        return Array(tag.prefix(CommitRecord.tagLength))
            + [UInt8](repeating: 0, count: max(0, CommitRecord.tagLength - tag.count))
    }

    /// The upper bound of a chunk's length for a payload of `count` bytes.
    func maximumLength(_ count: Int) -> Int {
        ChunkCodec.maximumHeaderLength + count + overhead
    }

    /// Appends a chunk to `output`, which will stand at `offset` of the file, and returns where it is.
    ///
    /// - Parameters:
    ///   - payload: the bytes.
    ///   - form: what they are; of nodes alone another one than ``Form/plain``.
    ///   - level: zlib's compression level, 0 for none. The payload stays as it is unless an eighth is saved.
    func append(
        _ payload: ByteView, kind: ChunkKind, _ form: Form = .plain, at offset: UInt64, level: Int32,
        to output: ByteBuffer
    ) -> ChunkReference {
        let base = output.count
        let flags = form.rawValue
        if level > 0, payload.count >= ChunkCodec.minimumToCompress,
            let deflated = ChunkCodec.deflated(payload, level: level)
        {
            append(deflated.view, flags | ChunkCodec.compressedFlag, kind, offset, output)
            withExtendedLifetime(deflated) {}
        } else {
            append(payload, flags, kind, offset, output)
        }
        let chunk = output.view.slice(base, output.count - base)
        output.store(checksum(chunk, offset), at: base)
        return ChunkReference(offset: offset, length: UInt32(chunk.count))
    }

    @inline(__always)
    private func append(
        _ payload: ByteView, _ flags: UInt8, _ kind: ChunkKind, _ offset: UInt64, _ output: ByteBuffer
    ) {
        output.reserve(maximumLength(payload.count))
        output.append(integer: UInt32(0))
        guard isTransformed else {
            output.append(kind.rawValue | flags)
            return output.append(prefixed: payload)
        }
        appendSealed(payload, flags, kind, offset, output)
    }

    @inline(never)
    private func appendSealed(
        _ payload: ByteView, _ flags: UInt8, _ kind: ChunkKind, _ offset: UInt64, _ output: ByteBuffer
    ) {
        output.append(kind.rawValue | flags | ChunkCodec.sealedFlag)
        output.append(varint: UInt64(payload.count + overhead))
        sealing.seal(
            payload, kind: kind.rawValue | flags, offset: offset, history: history.number(at: offset),
            into: output)
    }

    @inline(__always)
    func checksum(_ chunk: ByteView, _ offset: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: Checksum.of(chunk.dropFirst(4), seed: salt &+ offset))
    }

    /// Why bytes are not the chunk that was asked for.
    struct Refusal: Error {
        let reason: String
    }

    /// The payload of `chunk`, which was read from `reference`: a part of `chunk`, or of `scratch` when it had to be
    /// decrypted, decompressed or unpacked. The caller keeps `scratch`, which is made when it is needed, as long as the
    /// payload.
    func payload(
        of chunk: ByteView, _ kind: ChunkKind, at reference: ChunkReference,
        scratch: inout ByteBuffer?
    ) throws(Refusal) -> ByteView {
        let (stored, form) = try stored(in: chunk, kind, at: reference, scratch: &scratch)
        guard form != .changes else { throw Refusal(reason: "a leaf's changes in the place of a node") }
        guard form == .packed else { return stored }
        // What was decrypted or decompressed is still being read while the page is made.
        let source = scratch
        let page = ByteBuffer(capacity: 8192)
        defer {
            extendLifetime(source)
            scratch = page
        }
        do {
            try PackedLeaf.unpack(stored, into: page)
        } catch {
            throw ChunkCodec.malformedLeaf
        }
        return page.view
    }

    /// Puts the node in `chunk`, which was read from `reference`, into the memory that `makeRoom` gives for a number of
    /// bytes; of no use where an error is thrown.
    ///
    /// - Returns: where the chunk has only what changed of a leaf, that; nothing was put anywhere then.
    func decode(
        nodeIn chunk: ByteView, at reference: ChunkReference,
        _ makeRoom: (Int) -> UnsafeMutableRawBufferPointer
    ) throws(Refusal) -> LeafChanges? {
        var scratch: ByteBuffer?
        let (stored, form) = try stored(in: chunk, .node, at: reference, scratch: &scratch)
        defer { extendLifetime(scratch) }
        switch form {
        case .plain: unsafe makeRoom(stored.count).copyMemory(from: stored.buffer)
        case .changes: return try changes(stored)
        case .packed:
            do {
                unsafe try PackedLeaf.unpack(stored, makeRoom)
            } catch {
                throw ChunkCodec.malformedLeaf
            }
        }
        return nil
    }

    /// What changed of a leaf, if `chunk`, which was read from `reference`, has that; `nil` where it has a node.
    func changes(in chunk: ByteView, at reference: ChunkReference) throws(Refusal) -> LeafChanges? {
        var scratch: ByteBuffer?
        let (stored, form) = try stored(in: chunk, .node, at: reference, scratch: &scratch)
        defer { extendLifetime(scratch) }
        return form == .changes ? try changes(stored) : nil
    }

    private func changes(_ stored: ByteView) throws(Refusal) -> LeafChanges {
        do {
            return try LeafChanges(stored)
        } catch {
            throw Refusal(reason: "malformed changes of a leaf")
        }
    }

    private static let malformedLeaf = Refusal(reason: "a malformed packed leaf")

    /// What was handed to ``append(_:kind:_:at:level:to:)`` as the payload of `chunk`, and its form.
    @inline(__always)
    func stored(
        in chunk: ByteView, _ kind: ChunkKind, at reference: ChunkReference, scratch: inout ByteBuffer?
    ) throws(Refusal) -> (payload: ByteView, form: Form) {
        let (flags, length, start) = try header(of: chunk, kind)
        guard start + length == chunk.count, chunk.count == Int(reference.length) else {
            throw Refusal(reason: "a chunk of another length")
        }
        let stored = chunk.slice(start, length)
        let form = Form(rawValue: flags & Form.mask) ?? .plain
        // What the transform authenticates needs no checksum.
        if !isTransformed { try verifyChecksum(of: chunk, at: reference.offset) }
        guard flags & ~Form.mask != 0 || isTransformed else { return (stored, form) }
        let memory = scratch ?? ByteBuffer()
        scratch = memory
        memory.reset()
        do throws(Refusal) {
            return (try decoded(stored, flags, kind, reference.offset, memory), form)
        } catch {
            // Tells damage from a chunk of another file.
            try verifyChecksum(of: chunk, at: reference.offset)
            throw error
        }
    }

    @inline(__always)
    private func verifyChecksum(of chunk: ByteView, at offset: UInt64) throws(Refusal) {
        guard chunk.load(UInt32.self, at: 0) == checksum(chunk, offset) else {
            throw Refusal(reason: "a wrong checksum")
        }
    }

    /// Whether the payload of `chunk` is used as it is stored.
    func isPlain(_ chunk: ByteView) -> Bool { !isTransformed && chunk.count > 4 && chunk[4] & 0xf0 == 0 }

    /// The form of the payload of `chunk` where it is stored as it is, neither compressed nor encrypted.
    static func storedForm(_ chunk: ByteView) -> Form? { Form(rawValue: chunk[4] & 0xf0) }

    /// The kind that a chunk's byte of kind and flags gives it; `nil` for a kind or flags that there are not.
    @inline(__always)
    static func kind(_ byte: UInt8) -> ChunkKind? {
        guard let kind = ChunkKind(rawValue: byte & 0x0f), byte & Form.mask != Form.mask,
            byte & Form.mask == 0 || kind == .node
        else { return nil }
        return kind
    }

    @inline(__always)
    private func header(of chunk: ByteView, _ kind: ChunkKind) throws(Refusal) -> (UInt8, Int, Int) {
        guard chunk.count >= 6 else { throw Refusal(reason: "too few bytes for a chunk") }
        guard ChunkCodec.kind(chunk[4]) == kind else {
            throw Refusal(reason: "a chunk of another kind than \(kind)")
        }
        var reader = ByteReader(chunk.slice(5, min(chunk.count - 5, 5)))
        guard let length = try? reader.varint(), length <= UInt64(UInt32.max) else {
            throw Refusal(reason: "a malformed chunk header")
        }
        return (chunk[4] & 0xf0, Int(length), 5 + reader.position)
    }

    private func decoded(
        _ stored: ByteView, _ flags: UInt8, _ kind: ChunkKind, _ offset: UInt64, _ scratch: ByteBuffer
    ) throws(Refusal) -> ByteView {
        guard (flags & ChunkCodec.sealedFlag != 0) == isTransformed else {
            throw Refusal(reason: "a chunk that is \(!isTransformed ? "" : "not ")encrypted")
        }
        var plain = stored
        if isTransformed {
            let kindAndFlags = kind.rawValue | (flags & ~ChunkCodec.sealedFlag)
            let number = history.number(at: offset)
            guard sealing.open(stored, kind: kindAndFlags, offset: offset, history: number, into: scratch)
            else {
                throw Refusal(reason: "a chunk that its key does not authenticate")
            }
            plain = scratch.view
        }
        guard flags & ChunkCodec.compressedFlag != 0 else { return plain }
        return try ChunkCodec.inflate(plain, into: scratch)
    }

    /// `payload` as its length (varint) and zlib data, unless that saves less than an eighth.
    private static func deflated(_ payload: ByteView, level: Int32) -> ByteBuffer? {
        let output = ByteBuffer(capacity: payload.count)
        output.append(varint: UInt64(payload.count))
        let start = output.count
        output.resize(to: max(start + 1, payload.count - payload.count / 8))
        var length = uLongf(output.count - start)
        let status = unsafe compress2(
            output.mutableBytes.baseAddress!.assumingMemoryBound(to: Bytef.self) + start, &length,
            payload.buffer.baseAddress!.assumingMemoryBound(to: Bytef.self), uLong(payload.count), level)
        guard status == Z_OK else { return nil }
        output.resize(to: start + Int(length))
        return output
    }

    /// Deflate cannot expand further than this (zlib's technical notes), so a larger claim is damage.
    private static let maximumRatio = 1032

    private static func inflate(_ packed: ByteView, into scratch: ByteBuffer) throws(Refusal) -> ByteView {
        var reader = ByteReader(packed)
        let limit = min(Format.maximumValueLength, packed.count * maximumRatio)
        guard let length = try? reader.length(limit: limit) else {
            throw Refusal(reason: "a malformed length of compressed bytes")
        }
        let source = packed.dropFirst(reader.position).array
        scratch.reset()
        scratch.resize(to: length)
        var produced = uLongf(length)
        let status = unsafe source.withUnsafeBufferPointer {
            unsafe uncompress(
                scratch.mutableBytes.baseAddress!.assumingMemoryBound(to: Bytef.self), &produced,
                $0.baseAddress,
                uLong($0.count))
        }
        guard status == Z_OK, Int(produced) == length else {
            throw Refusal(reason: "compressed bytes that don't decompress")
        }
        return scratch.view
    }
}

// MARK: - Shape

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

// MARK: - ChunkReference

/// Where a chunk stands in the file. Its length counts header and payload, so that one read gets it all.
struct ChunkReference: Hashable, Sendable {
    var offset: UInt64
    var length: UInt32

    /// Offsets take 48 bits in nodes: files of up to 256 TiB.
    static let maximumOffset: UInt64 = (1 << 48) - 1

    /// What stands in the place of a reference where there is no chunk.
    static let nowhere = ChunkReference(offset: 0, length: 0)

    var end: UInt64 { offset + UInt64(length) }

    /// How far from `end`, where another chunk ends, this one begins; the sign in the lowest bit (zigzag), as logs and packed
    /// leaves have it.
    @inline(__always) func distance(from end: UInt64) -> UInt64 {
        let distance = Int64(bitPattern: offset &- end)
        return UInt64(bitPattern: distance &<< 1 ^ distance &>> 63)
    }

    /// The offset of the chunk that begins `distance` from `end`.
    @inline(__always) static func offset(_ distance: UInt64, from end: UInt64) -> UInt64 {
        end &+ UInt64(bitPattern: Int64(bitPattern: distance &>> 1) ^ -Int64(bitPattern: distance & 1))
    }
}

/// What a chunk holds.
enum ChunkKind: UInt8, Sendable {
    /// A value that stands outside its tree.
    case value = 1
    /// A tree node.
    case node = 2
    /// Operations of a commit.
    case operations = 3
    /// The roots of all trees, in a checkpoint.
    case directory = 4
}
