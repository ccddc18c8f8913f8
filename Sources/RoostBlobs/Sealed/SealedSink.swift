import RoostBytes
import RoostFile

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
