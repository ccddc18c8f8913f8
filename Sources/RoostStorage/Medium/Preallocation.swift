import RoostBytes
import RoostFile

/// Writes commits at the end of the file, and preallocates space for the next ones where that pays.
///
/// Small commits write into blocks that were zeroed before: that saves the file system's own journal commit. How much is
/// prepared grows with use.
struct Preallocation {
    /// The most that is prepared at once, in bytes.
    static let largest = 1 << 20
    /// A few small commits in a row come before the first extension, so that a single one appends one block.
    private static let smallest = 1 << 14
    /// Commits larger than this take about as long to be written twice as they save.
    private static let smallCommit = 1 << 14

    /// Up to here the file has blocks, which may hold zeros.
    var allocatedEnd: UInt64
    /// How much to prepare at the next extension, in bytes.
    private var ahead = 0
    /// Where commits that are written together are gathered.
    let gathered = ByteBuffer()

    init(from end: UInt64) { allocatedEnd = end }

    /// Writes `bytes` at `offset`; a small commit that reaches the end of the preallocated space takes zeros for the next
    /// ones along, unless the next transaction has written there already.
    mutating func write(
        _ bytes: ByteBuffer, at offset: UInt64, to file: DataFile, isLarge: Bool
    ) throws(StoreError) {
        let count = bytes.count
        let end = offset + UInt64(count)
        // The commit's own buffer stays as it is: who builds on the commit reads it meanwhile.
        var output = bytes
        defer { if output === gathered { output.resize(to: count) } }
        let outcome: Result<Void, StoreError> = file.writtenAhead.withLock { writtenAhead in
            if end > allocatedEnd {
                ahead =
                    !isLarge && count <= Preallocation.smallCommit
                    ? min(max(ahead * 4, 256), Preallocation.largest) : 0
                if ahead >= Preallocation.smallest, writtenAhead <= end {
                    if bytes !== gathered {
                        gathered.reset(keeping: Preallocation.largest)
                        gathered.append(bytes.view)
                        output = gathered
                    }
                    output.append(zeros: ahead)
                }
            }
            return Result { () throws(StoreError) in
                try fileCall { () throws(FileError) in try write(output, count, at: offset, to: file.file) }
            }
        }
        try outcome.get()
        allocatedEnd = max(allocatedEnd, offset + UInt64(output.count))
    }

    /// Writes `bytes`, or only the first `count` of them, the commit itself, where the preallocated space does not fit.
    private mutating func write(
        _ bytes: ByteBuffer, _ count: Int, at offset: UInt64, to file: any File
    ) throws(FileError) {
        do throws(FileError) {
            unsafe try file.writeFully(bytes.view.buffer, at: offset)
        } catch  where error.code == .noSpace && bytes.count > count {
            bytes.resize(to: count)
            ahead = 0
            unsafe try file.writeFully(bytes.view.buffer, at: offset)
        }
    }
}
