import RoostBytes
import RoostFile
import Synchronization

/// The part of a file that values can be read from without a call, mapped window by window as it is first used.
///
/// Only bytes below ``stableEnd`` are ever touched: what is known to be on the medium is never cut off again, by this
/// process or another that keeps to the format. Any thread may use it; finding a value takes no lock.
@safe final class MappedValues: Sendable {
    /// Windows of 1 GiB: few system calls, and no large reservation for a small file where address space is short.
    private static let windowShift = 30
    /// What lies beyond these 4 TiB is read by calls.
    private static let most = 4096

    /// Longer values are read by a call, in one go instead of page by page.
    private static let longest: UInt32 = 1 << 16

    private let file: any File
    let lostPages = LostPages()
    private let stableEnd = Atomic<UInt64>(0)
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
        unsafe addresses = .allocate(capacity: MappedValues.most)
        for index in 0..<MappedValues.most { unsafe (addresses + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe addresses.deinitialize(count: MappedValues.most)
        unsafe addresses.deallocate()
    }

    /// Notes that everything before `end` is on the medium.
    func extend(to end: UInt64) {
        _ = stableEnd.max(end, ordering: .acquiringAndReleasing)
    }

    /// The bytes of `chunk`, valid as long as this object; `nil` where they have to be read.
    @inline(__always)
    func find(_ chunk: ChunkReference) -> ByteView? {
        guard chunk.length > 0, chunk.length <= MappedValues.longest,
            chunk.end <= stableEnd.load(ordering: .acquiring)
        else { return nil }
        let window = Int(truncatingIfNeeded: chunk.offset >> MappedValues.windowShift)
        guard (chunk.end - 1) >> MappedValues.windowShift == UInt64(window), window < MappedValues.most else {
            return nil
        }
        var address = unsafe addresses[window].load(ordering: .acquiring)
        if address == 0 { address = map(window) }
        guard let base = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        let start = Int(truncatingIfNeeded: chunk.offset & (1 << MappedValues.windowShift - 1))
        return unsafe ByteView(base + start, count: Int(chunk.length))
    }

    /// Has the system read up to `length` bytes from `offset` on in the background.
    func prefetch(_ offset: UInt64, _ length: Int) {
        let end = stableEnd.load(ordering: .acquiring)
        guard offset < end else { return }
        let start = Int(truncatingIfNeeded: offset & (1 << MappedValues.windowShift - 1))
        let window = offset - UInt64(start)
        let mapping = windows.withLock { windows in windows.mapped.first { $0.offset == window }?.mapping }
        mapping?.prefetch(start..<start + min(length, Int(clamping: end - offset)))
    }

    /// Maps a window; 0 when the system refuses, which is not asked again.
    @inline(never)
    private func map(_ window: Int) -> UInt {
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
