import CRoostPrefetch
import RoostBytes
import RoostFile
import Synchronization

/// The part of a file that values and nodes can be read from without a call, mapped window by window as it is first used.
///
/// Only bytes below ``stableEnd`` are ever touched: what is known to be on the medium is never cut off again, by this
/// process or another that keeps to the format. Any thread may use it; ``places`` finds a value without a lock.
@safe final class MappedValues: Sendable {
    /// Windows of 1 GiB: few system calls, and no large reservation for a small file where address space is short.
    static let windowShift = 30
    /// What lies beyond these 4 TiB is read by calls.
    static let most = 4096

    private let file: any File
    let lostPages = LostPages()
    private nonisolated(unsafe) let stableEnd: UnsafeMutablePointer<Atomic<UInt64>>
    /// The windows' addresses, 0 where none is mapped; they live as long as this object.
    private nonisolated(unsafe) let addresses: UnsafeMutablePointer<Atomic<UInt>>
    private let windows = Mutex<Windows>(Windows())

    private struct Windows {
        var mapped: [(offset: UInt64, mapping: FileMapping)] = []
        var isRefused = false
    }

    /// Whether pointers are long enough for windows of this size.
    private static let hasRoom = Int.bitWidth > 32

    /// `nil` where pointers are too short for windows of this size.
    init?(_ file: any File) {
        guard MappedValues.hasRoom else { return nil }
        self.file = file
        unsafe stableEnd = .allocate(capacity: 1)
        unsafe stableEnd.initialize(to: Atomic(0))
        unsafe addresses = .allocate(capacity: MappedValues.most)
        for index in 0..<MappedValues.most { unsafe (addresses + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe stableEnd.deinitialize(count: 1)
        unsafe stableEnd.deallocate()
        unsafe addresses.deinitialize(count: MappedValues.most)
        unsafe addresses.deallocate()
    }

    /// Where values are found.
    var places: MappedPlaces { unsafe MappedPlaces(of: self, stableEnd: stableEnd, addresses: addresses) }

    /// Notes that everything before `end` is on the medium.
    func extend(to end: UInt64) {
        _ = unsafe stableEnd.pointee.max(end, ordering: .acquiringAndReleasing)
    }

    /// Has the system read up to `length` bytes from `offset` on in the background.
    func prefetch(_ offset: UInt64, _ length: Int) {
        let end = unsafe stableEnd.pointee.load(ordering: .acquiring)
        guard offset < end else { return }
        let start = Int(truncatingIfNeeded: offset & (1 << MappedValues.windowShift - 1))
        let window = offset - UInt64(start)
        let mapping = windows.withLock { windows in windows.mapped.first { $0.offset == window }?.mapping }
        mapping?.prefetch(start..<start + min(length, Int(clamping: end - offset)))
    }

    /// Maps a window; 0 when the system refuses, which is not asked again.
    @inline(never)
    func map(_ window: Int) -> UInt {
        windows.withLock { windows in
            let known = unsafe addresses[window].load(ordering: .acquiring)
            if known != 0 || windows.isRefused { return known }
            let offset = UInt64(window) << MappedValues.windowShift
            guard
                let mapping = try? file.map(
                    1 << MappedValues.windowShift, at: offset, counting: lostPages)
            else {
                windows.isRefused = true
                return 0
            }
            windows.mapped.append((offset, mapping))
            let address = unsafe UInt(bitPattern: mapping.view.buffer.baseAddress)
            unsafe addresses[window].store(address, ordering: .releasing)
            return address
        }
    }
}

// MARK: - MappedPlaces

/// Finds values in the windows of ``MappedValues``, which must outlive it. Pointers only, so that reading counts no
/// references to what all readers share.
@safe struct MappedPlaces: Sendable {
    /// Only bytes before this offset are touched.
    private nonisolated(unsafe) let stableEnd: UnsafeMutablePointer<Atomic<UInt64>>
    /// The windows' addresses, 0 where none is mapped.
    private nonisolated(unsafe) let addresses: UnsafeMutablePointer<Atomic<UInt>>
    private let owner: Unmanaged<MappedValues>
    let lostPages: LostPages.Count

    /// Longer values are read by a call, in one go instead of page by page.
    private static let longest: UInt32 = 1 << 16

    init(
        of owner: MappedValues, stableEnd: UnsafeMutablePointer<Atomic<UInt64>>,
        addresses: UnsafeMutablePointer<Atomic<UInt>>
    ) {
        unsafe self.owner = .passUnretained(owner)
        unsafe self.stableEnd = stableEnd
        unsafe self.addresses = addresses
        lostPages = owner.lostPages.count
    }

    /// The bytes of `chunk`, valid as long as the mapping; `nil` where they have to be read.
    ///
    /// - Parameter mapping: whether a window is mapped for them. To map one takes as long as reading a few nodes by calls, and
    ///   opening reads no more.
    @inline(__always)
    func find(_ chunk: ChunkReference, mapping: Bool = true) -> ByteView? {
        guard chunk.length > 0, chunk.length <= MappedPlaces.longest,
            unsafe chunk.end <= stableEnd.pointee.load(ordering: .acquiring)
        else { return nil }
        let window = Int(truncatingIfNeeded: chunk.offset >> MappedValues.windowShift)
        guard (chunk.end - 1) >> MappedValues.windowShift == UInt64(window), window < MappedValues.most else {
            return nil
        }
        var address = unsafe addresses[window].load(ordering: .acquiring)
        if address == 0, mapping { address = unsafe owner._withUnsafeGuaranteedRef { $0.map(window) } }
        guard let base = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        let start = Int(truncatingIfNeeded: chunk.offset & (1 << MappedValues.windowShift - 1))
        return unsafe ByteView(base + start, count: Int(chunk.length))
    }

    /// Has the processor fetch the first bytes of `chunk`, which will be read soon, where they are in memory.
    @inline(__always)
    func prefetch(_ chunk: ChunkReference) { find(chunk)?.prefetch() }
}

// MARK: - ValueWindow

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

// MARK: - Prefetch

extension ByteView {
    /// Has the processor fetch the first bytes, which will be read soon.
    package func prefetch() {
        guard let base = unsafe buffer.baseAddress else { return }
        for line in stride(from: 0, to: min(count, ByteView.fetched), by: ByteView.line) {
            unsafe roost_prefetch(base + line)
        }
    }

    /// Of a longer run the processor fetches the rest by itself once it is being read.
    private static let fetched = 512
    private static let line = 64
}
