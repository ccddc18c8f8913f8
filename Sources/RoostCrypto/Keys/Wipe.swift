#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Overwrites `memory` with zeros, for secrets that are no longer needed.
///
/// An ordinary loop may be left out by the compiler when nothing reads the memory afterwards; the C library's call
/// for this purpose may not.
package func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress, memory.count > 0 else { return }
    #if canImport(Darwin)
        unsafe memset_s(start, memory.count, 0, memory.count)
    #else
        unsafe explicit_bzero(start, memory.count)
    #endif
}

/// Overwrites a value that held secrets with zeros.
package func wipe<Value: BitwiseCopyable>(_ value: inout Value) {
    unsafe withUnsafeMutableBytes(of: &value) { unsafe wipe($0) }
}
