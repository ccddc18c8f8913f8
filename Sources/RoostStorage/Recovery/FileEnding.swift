import RoostBytes
import RoostFile

/// What a store's file ended with when the store was opened.
public struct FileEnding: Sendable, Hashable {
    /// Whether the file ends with the note that its writer closed it and that everything before was on the medium, or was made
    /// by this opening.
    ///
    /// Where it does not, nothing need be wrong: another process is writing the store, its writer was killed or never closed
    /// it, or it is a backup. But commits that the end of the file held may be lost, by a medium or a program that cut it
    /// off, and nothing else tells.
    public let isClean: Bool
    /// Where the newest whole commit ends.
    public let offset: UInt64
    /// How many bytes behind that are not zeros prepared for later commits: what a crash left of commits that nobody was told
    /// of, a commit that another process is writing, or commits that were damaged since. Opening for writing cuts them off.
    public let bytesBehind: UInt64
}

extension FileEnding {
    /// That of a file that was just made, up to `offset`.
    init(newFileOf offset: UInt64) {
        self.init(isClean: true, offset: offset, bytesBehind: 0)
    }

    /// That of `file`, whose newest whole commit is the one of `record`. Reads what is behind it.
    init(of file: DataFile, after record: CommitRecord) throws(StoreError) {
        let size = try fileCall { () throws(FileError) in try file.file.size() }
        let isNoted = record.kind == .cleanShutdown && record.syncedEnd == record.start
        let end = try FileEnding.lastByte(of: file, from: record.end, to: size)
        self.init(isClean: isNoted && end == record.end, offset: record.end, bytesBehind: end - record.end)
    }

    /// The end of the last byte in the range that is not zero; `start` where all are.
    private static func lastByte(
        of file: DataFile, from start: UInt64, to size: UInt64
    ) throws(StoreError) -> UInt64 {
        let window = ByteBuffer(capacity: Format.blockSize)
        var end = size
        while end > start {
            let from = end - min(end - start, UInt64(LogScanner.largestWindow))
            window.resize(to: Int(end - from))
            window.resize(
                to: try fileCall { () throws(FileError) in
                    unsafe try file.file.readFully(into: window.mutableBytes, at: from)
                })
            let last = unsafe window.view.buffer.lastIndex { $0 != 0 }
            if let last { return from + UInt64(last) + 1 }
            end = from
        }
        return start
    }
}
