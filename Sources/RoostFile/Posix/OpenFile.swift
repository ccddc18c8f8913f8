#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that is open for as long as handles, locks or mappings of it are left in this process.
final class OpenFile: Sendable {
    let descriptor: Int32
    private let forkCount = ForkCount.current

    /// Whether it was opened by the process that this one was forked from.
    var isInherited: Bool { forkCount != ForkCount.current }

    /// Takes over `descriptor`.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        giveBackSpace()
        closeDescriptor(descriptor)
    }

    /// Cuts a long file off bit by bit that goes with its last descriptor.
    ///
    /// A file system with a journal frees such a file at one go, and whoever syncs another file waits for that: by what a
    /// compaction has replaced, of some hundred megabytes, for tens of milliseconds.
    func giveBackSpace() {
        // A parent may read what its child would cut off.
        guard !isInherited else { return }
        var status = stat()
        guard statusOfDescriptor(descriptor, &status) == 0, status.st_nlink == 0,
            status.st_size > 2 * Self.step, isOpenedOnce(descriptor)
        else { return }
        var size = status.st_size
        while size > Self.step {
            size -= Self.step
            guard retrying({ ftruncate(descriptor, size) }) == 0 else { return }
        }
    }

    /// So many bytes are freed at a time.
    private static let step: off_t = 4 << 20
}
