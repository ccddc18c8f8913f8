import RoostBytes
import RoostFile
import Synchronization

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
