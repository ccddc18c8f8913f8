import RoostBytes

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A part of a file as memory, read-only and shared with the system's cache; unmapped when the last reference goes.
///
/// It may reach beyond the end of the file and shows what is written there later. Touching what is not in the file,
/// or what the device cannot read, kills the process with a signal (SIGBUS): that is the price of saving the calls.
/// Any thread may use it.
@safe package final class FileMapping: Sendable {
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let length: Int

    /// Takes over the mapping of `length` bytes at `base`.
    init(base: UnsafeMutableRawPointer, length: Int) {
        unsafe self.base = base
        self.length = length
    }

    deinit { unsafe munmap(base, length) }

    /// All of it.
    package var view: ByteView { unsafe ByteView(UnsafeRawPointer(base), count: length) }
}
