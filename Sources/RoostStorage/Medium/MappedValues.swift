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
