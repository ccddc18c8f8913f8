import RoostBytes

/// Reads values that follow each other in the file with one call, for scans.
final class ValueWindow {
    private let file: DataFile
    /// What was read from the file: nothing where it is mapped.
    private lazy var bytes = ByteBuffer(capacity: 1024)
    private var start: UInt64 = 0
    /// What was decoded. Spared the run-time check for overlapping accesses: a window belongs to one thread, and what decodes a
    /// value does not come back to it.
    @exclusivity(unchecked) private var scratch: ByteBuffer?
    /// A value too long for the window.
    private var large: ByteBuffer?
    /// How far to read ahead; doubles while reads keep following each other.
    private var reach = ValueWindow.smallestReach

    /// The part of a mapping that values are being read from.
    private var stretch: (start: UInt64, length: UInt64) = (0, 0)
    private static let smallestStretch: UInt64 = 64 << 10
    private static let largestStretch: UInt64 = 4 << 20

    private static let smallestReach = 32 << 10
    private static let largestReach = 256 << 10
    /// Unwanted bytes between two values that are cheaper to read than to skip.
    private static let largestGap: UInt64 = 1024

    init(file: DataFile) { self.file = file }

    /// The value at `chunk`, valid until the next call, where the file is mapped and can be read there.
    @inline(__always)
    func mapped(_ chunk: ChunkReference) -> ByteView? {
        guard let places = file.mappedPlaces, let bytes = places.find(chunk) else { return nil }
        if chunk.offset &- stretch.start >= stretch.length { enterStretch(chunk.offset) }
        return try? payload(of: bytes, chunk)
    }

    /// Goes on to the stretch of the file that begins at `offset`: the larger ones one after another, which are read before
    /// they are reached, where values follow each other, and a small one after a jump.
    @inline(never)
    private func enterStretch(_ offset: UInt64) {
        let isNext = offset &- stretch.start &- stretch.length < UInt64(ValueWindow.largestReach)
        let grown = isNext ? min(stretch.length * 4, ValueWindow.largestStretch) : 0
        let length = max(grown, ValueWindow.smallestStretch)
        stretch = (offset, length)
        if isNext { file.mapped?.prefetch(offset, Int(length) * 2) }
    }

    @inline(__always)
    private func payload(of bytes: ByteView, _ chunk: ChunkReference) throws(StoreError) -> ByteView {
        guard file.codec.isPlain(bytes) else {
            return unsafe try file.payload(of: bytes, .value, chunk, scratch: &scratch)
        }
        // Nothing is decoded.
        var none: ByteBuffer?
        return try file.payload(of: bytes, .value, chunk, scratch: &none)
    }

    /// The value at `chunk`, valid until the next call. `upcoming` tells which values come 1, 2, … places later.
    func read(
        _ chunk: ChunkReference, _ upcoming: (Int) -> ChunkReference?
    ) throws(StoreError) -> ByteView {
        guard chunk.length <= ValueWindow.largestReach else {
            let large = try file.read(chunk)
            self.large = large
            return try payload(of: large.view, chunk)
        }
        if chunk.offset < start || chunk.end > start + UInt64(bytes.count) { try fill(chunk, upcoming) }
        return try payload(of: bytes.view.slice(Int(chunk.offset - start), Int(chunk.length)), chunk)
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
        let memory = unsafe bytes.emptied(toHold: Int(end - chunk.offset))
        start = chunk.offset
        do {
            unsafe try file.read(memory, at: start)
        } catch {
            bytes.resize(to: 0)
            throw error
        }
    }
}

extension DataFile {
    /// Calls `body` with the value at `chunk`, valid during the call.
    ///
    /// Not generic, so that callers in other modules get a specialized one.
    func visitValue(_ chunk: ChunkReference, _ body: (ByteView) -> Void) throws(StoreError) {
        if try visitMapped(chunk, body) { return }
        guard chunk.length <= DataFile.onStack else {
            let buffer = try read(chunk)
            try visit(buffer.view, chunk, body)
            return withExtendedLifetime(buffer) {}
        }
        var failure: StoreError?
        unsafe withUnsafeTemporaryAllocation(byteCount: DataFile.onStack, alignment: 16) { memory in
            do throws(StoreError) {
                let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<Int(chunk.length)])
                unsafe try read(bytes, at: chunk.offset)
                try visit(unsafe ByteView(UnsafeRawBufferPointer(bytes)), chunk, body)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` with the value at `chunk` where it can be read from the mapping.
    @inline(__always)
    private func visitMapped(_ chunk: ChunkReference, _ body: (ByteView) -> Void) throws(StoreError) -> Bool {
        guard let mappedPlaces, let bytes = mappedPlaces.find(chunk) else { return false }
        let lostPages = mappedPlaces.lostPages.value
        // What does not verify may be a page that could not be read: a call says what is wrong, if anything is.
        guard (try? visit(bytes, chunk, body)) != nil else { return false }
        try checkMapping(since: lostPages)
        return true
    }

    /// Refuses what was read from a mapping when pages were lost meanwhile, after the checksum had been verified.
    @inline(__always)
    func checkMapping(since lostPages: Int) throws(StoreError) {
        guard mappedPlaces?.lostPages.value ?? 0 == lostPages else {
            throw StoreError(
                .inputOutput, "\(path): a part of the file could not be read from its mapping. Try it again.")
        }
    }

    @inline(__always)
    private func visit(
        _ bytes: ByteView, _ chunk: ChunkReference, _ body: (ByteView) -> Void
    ) throws(StoreError) {
        var scratch: ByteBuffer?
        body(try payload(of: bytes, .value, chunk, scratch: &scratch))
        withExtendedLifetime(scratch) {}
    }

    /// Values up to this length are read without allocating memory.
    private static let onStack = 4096
}
