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
/// It may reach beyond the end of the file and shows what is written there later. What is not in the file when it is
/// touched, or what the device cannot read, is zeros from then on, and counted in ``lostPages``. Any thread may use it.
@safe package final class FileMapping: Sendable {
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let length: Int

    /// Takes over the mapping of `length` bytes at `base`; `nil` where unreadable pages of it would end the process.
    init?(base: UnsafeMutableRawPointer, length: Int) {
        guard unsafe MappingGuard.protect(base, length) else {
            unsafe munmap(base, length)
            return nil
        }
        unsafe self.base = base
        self.length = length
    }

    deinit {
        unsafe MappingGuard.release(base)
        unsafe munmap(base, length)
    }

    /// How many pages could not be read so far, in all mappings of the process. When it is the same before and after
    /// bytes were used, they were those of the file.
    package static var lostPages: Int { MappingGuard.lostPages }

    /// All of it.
    package var view: ByteView { unsafe ByteView(UnsafeRawPointer(base), count: length) }
}
