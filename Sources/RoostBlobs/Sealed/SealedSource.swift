import RoostBytes
import RoostFile

/// Reads the frames of an encrypted blob: one for a small read anywhere, many at once for a large one.
final class SealedSource: ByteSource {
    private static let framesAtOnce: UInt64 = 64

    let length: UInt64
    let facts: SealedFacts
    private let file: any File
    private let cipher: FrameCipher
    private let frameCount: UInt64
    /// Ciphertext, and the content of the frame that was read in part last.
    private let sealed = ByteBuffer(capacity: Frames.length)
    private let text = ByteBuffer(capacity: Frames.length)
    private var textFrame: UInt64?

    /// Reads and verifies the header: it says which content the file holds and how long it is, so a file in another
    /// one's place, one that was cut off and one that was continued are found here.
    init(_ file: any File, size: UInt64, _ keys: BlobKeys) throws(BlobError) {
        self.file = file
        guard size >= UInt64(SealedHeader.length) else {
            throw BlobError.damaged(file.path, "it was cut off")
        }
        var bytes = [UInt8](repeating: 0, count: SealedHeader.length)
        try bytes.fill(from: file, at: 0)
        let header = try SealedHeader(bytes, keys, path: file.path)
        facts = try header.facts(bytes, path: file.path)
        guard facts.storedLength <= Frames.maximumContent, size == Frames.fileSize(facts.storedLength) else {
            throw BlobError.damaged(file.path, "its size is not what its header says")
        }
        length = facts.storedLength
        frameCount = Frames.count(length)
        cipher = FrameCipher(header.frameKey)
        // A blob without content has a frame all the same, which nobody would read.
        if length == 0 { try load(0) }
    }

    deinit {
        text.resize(to: Frames.length)
        unsafe text.mutableBytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            unsafe done += try readSome(into: rest, at: offset + UInt64(done))
        }
    }

    /// Reads at least one byte.
    private func readSome(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(BlobError) -> Int {
        let frame = Frames.index(of: offset)
        let skipped = Int(offset - Frames.contentOffset(frame))
        if skipped == 0, textFrame != frame {
            let whole = wholeFrames(from: frame, in: buffer.count)
            if whole > 0 { return unsafe try readFrames(frame, whole, into: buffer) }
        }
        if textFrame != frame { try load(frame) }
        let count = min(buffer.count, text.count - skipped)
        unsafe buffer.copyMemory(from: text.view.slice(skipped, count).buffer)
        return count
    }

    private func contentLength(of frame: UInt64) -> Int {
        frame == frameCount - 1 ? Int(length - Frames.contentOffset(frame)) : Frames.capacity(of: frame)
    }

    /// How many frames from `frame` on lie within `count` bytes of content, up to a run.
    private func wholeFrames(from frame: UInt64, in count: Int) -> UInt64 {
        var rest = count
        var end = frame
        while end < frameCount, end - frame < Self.framesAtOnce, rest >= contentLength(of: end) {
            rest -= contentLength(of: end)
            end += 1
        }
        return end - frame
    }

    /// Reads frames straight into `buffer`.
    private func readFrames(
        _ first: UInt64, _ count: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(BlobError) -> Int {
        try loadSealed(first, count)
        var done = 0
        var place = 0
        for frame in first..<first + count {
            let length = contentLength(of: frame)
            unsafe try open(
                frame, sealed.view.slice(place, length + Frames.length - Frames.capacity),
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length]))
            done += length
            place += length + Frames.length - Frames.capacity
        }
        return done
    }

    /// Reads one frame and keeps its content.
    private func load(_ frame: UInt64) throws(BlobError) {
        textFrame = nil
        try loadSealed(frame, 1)
        text.resize(to: contentLength(of: frame))
        unsafe try open(frame, sealed.view, into: text.mutableBytes)
        textFrame = frame
    }

    private func loadSealed(_ first: UInt64, _ count: UInt64) throws(BlobError) {
        let last = first + count - 1
        let end =
            Frames.fileOffset(last) + UInt64(contentLength(of: last) + Frames.length - Frames.capacity)
        let start = Frames.fileOffset(first)
        sealed.resize(to: Int(end - start))
        let read = try medium { () throws(FileError) in
            unsafe try file.readFully(into: sealed.mutableBytes, at: start)
        }
        guard read == sealed.count else { throw BlobError.damaged(file.path, "it was cut off") }
    }

    private func open(
        _ frame: UInt64, _ bytes: ByteView, into output: UnsafeMutableRawBufferPointer
    ) throws(BlobError) {
        let isAuthentic = unsafe cipher.open(
            bytes.buffer, into: output, frame: frame, isLast: frame == frameCount - 1)
        guard isAuthentic else { throw BlobError.damaged(file.path, "frame \(frame) was changed") }
    }
}

extension [UInt8] {
    /// Fills the array with the file's bytes from `offset` on.
    mutating func fill(from file: any File, at offset: UInt64) throws(BlobError) {
        let wanted = count
        let result: Result<Int, FileError> = unsafe withUnsafeMutableBytes { buffer in
            do throws(FileError) {
                return .success(unsafe try file.readFully(into: buffer, at: offset))
            } catch {
                return .failure(error)
            }
        }
        let read = try medium { () throws(FileError) in try result.get() }
        guard read == wanted else { throw BlobError.damaged(file.path, "it was cut off") }
    }
}

// MARK: - SealedSink

/// Writes an encrypted blob: its frames in runs of 64, and the header at the end, when its facts are known.
final class SealedSink: ByteSink {
    private static let framesAtOnce = 64

    private let file: any File
    private let header: SealedHeader
    private let cipher: FrameCipher
    /// What is not sealed yet. The first run holds a header less, which is all the same: see ``fill``.
    private let staging: Staging
    private let output = ByteBuffer(capacity: framesAtOnce * Frames.length)
    private var nextFrame: UInt64 = 0

    init(_ file: any File, _ keys: BlobKeys) {
        self.file = file
        header = SealedHeader(keys, salt: SealedHeader.randomSalt())
        cipher = FrameCipher(header.frameKey)
        staging = Staging(limit: Self.framesAtOnce * Frames.capacity)
    }

    deinit { staging.wipe() }

    func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        var done = 0
        while done < bytes.count {
            // Which frame is the last is not known before there is more, so a full buffer waits for that.
            if staging.isFull { try seal(isEnd: false) }
            unsafe done += staging.take(UnsafeRawBufferPointer(rebasing: bytes[done...]))
        }
    }

    func finish(_ facts: SealedFacts) throws(BlobError) {
        try seal(isEnd: true)
        let bytes = header.sealed(facts)
        try put(bytes, at: 0)
    }

    private func put(_ bytes: [UInt8], at offset: UInt64) throws(BlobError) {
        try medium { () throws(FileError) in
            try bytes.withView { (view) throws(FileError) in
                unsafe try file.writeFully(view.buffer, at: offset)
            }
        }
    }

    /// Seals the frames that are whole and keeps the rest; at the end, all.
    private func seal(isEnd: Bool) throws(BlobError) {
        let text = staging.view
        let start = Frames.fileOffset(nextFrame)
        var done = 0
        output.reset()
        while isEnd || text.count - done >= Frames.capacity(of: nextFrame) {
            let count = min(Frames.capacity(of: nextFrame), text.count - done)
            let isLast = isEnd && done + count == text.count
            let place = output.count
            output.resize(to: place + count + Frames.length - Frames.capacity)
            unsafe cipher.seal(
                text.slice(done, count).buffer,
                into: UnsafeMutableRawBufferPointer(rebasing: output.mutableBytes[place...]),
                frame: nextFrame, isLast: isLast)
            done += count
            nextFrame += 1
            if isLast { break }
        }
        try medium { () throws(FileError) in unsafe try file.writeFully(output.view.buffer, at: start) }
        let rest = text.dropFirst(done).array
        staging.clear()
        unsafe rest.withUnsafeBytes { _ = unsafe staging.take($0) }
    }
}
