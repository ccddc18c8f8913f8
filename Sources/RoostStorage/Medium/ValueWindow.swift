import RoostBytes

/// Reads values that follow each other in the file with one call, for scans.
final class ValueWindow {
    private let file: DataFile
    private let bytes = ByteBuffer(capacity: 1024)
    private var start: UInt64 = 0
    private var scratch: ByteBuffer?
    /// A value too long for the window.
    private var large = ByteBuffer()
    /// How far to read ahead; doubles while reads keep following each other.
    private var reach = ValueWindow.smallestReach

    private static let smallestReach = 32 << 10
    private static let largestReach = 256 << 10
    /// Unwanted bytes between two values that are cheaper to read than to skip.
    private static let largestGap: UInt64 = 1024

    init(file: DataFile) { self.file = file }

    /// The value at `chunk`, valid until the next call. `upcoming` tells which values come 1, 2, … places later.
    func read(
        _ chunk: ChunkReference, _ upcoming: (Int) -> ChunkReference?
    ) throws(StoreError) -> ByteView {
        guard chunk.length <= ValueWindow.largestReach else {
            large = try file.read(chunk)
            return try file.payload(of: large.view, .value, chunk, scratch: &scratch)
        }
        if chunk.offset < start || chunk.end > start + UInt64(bytes.count) { try fill(chunk, upcoming) }
        let view = bytes.view.slice(Int(chunk.offset - start), Int(chunk.length))
        return try file.payload(of: view, .value, chunk, scratch: &scratch)
    }

    private func fill(
        _ chunk: ChunkReference, _ upcoming: (Int) -> ChunkReference?
    ) throws(StoreError) {
        let follows =
            chunk.offset >= start && chunk.offset - start <= UInt64(bytes.count) + ValueWindow.largestGap
        reach = follows ? min(reach * 2, ValueWindow.largestReach) : ValueWindow.smallestReach
        var end = chunk.end
        var distance = 1
        while let next = upcoming(distance), next.offset >= end, next.offset - end <= ValueWindow.largestGap,
            next.end - chunk.offset <= UInt64(reach)
        {
            end = next.end
            distance += 1
        }
        bytes.resize(to: 0)
        bytes.resize(to: Int(end - chunk.offset))
        start = chunk.offset
        do {
            unsafe try file.read(bytes.mutableBytes, at: start)
        } catch {
            bytes.resize(to: 0)
            throw error
        }
    }
}

extension DataFile {
    /// Calls `body` with the value at `chunk`, valid during the call.
    @inline(__always)
    func withValue<R>(_ chunk: ChunkReference, _ body: (ByteView) -> R) throws(StoreError) -> R {
        guard chunk.length <= DataFile.onStack else {
            let buffer = try read(chunk)
            var scratch: ByteBuffer?
            let value = try payload(of: buffer.view, .value, chunk, scratch: &scratch)
            return withExtendedLifetime((buffer, scratch)) { body(value) }
        }
        let result: Result<R, StoreError> = unsafe withUnsafeTemporaryAllocation(
            byteCount: DataFile.onStack, alignment: 16
        ) { memory in
            Result { () throws(StoreError) in
                let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<Int(chunk.length)])
                unsafe try read(bytes, at: chunk.offset)
                let view = unsafe ByteView(UnsafeRawBufferPointer(bytes))
                var scratch: ByteBuffer?
                let value = try payload(of: view, .value, chunk, scratch: &scratch)
                return withExtendedLifetime(scratch) { body(value) }
            }
        }
        return try result.get()
    }

    /// Values up to this length are read without allocating memory.
    private static let onStack = 4096
}
