import Foundation
import Glibc

/// Brings memory and files into the state they have on a machine that has been running for a while. On virtual
/// machines memory touched for the first time costs several times more than later.
enum Warmth {
    /// Touches every page of `count` bytes and gives them back.
    static func touchMemory(_ count: Int) {
        guard
            let pages = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe pages != MAP_FAILED
        else { return }
        for offset in stride(from: 0, to: count, by: 4096) {
            unsafe pages.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
        }
        unsafe munmap(pages, count)
    }

    /// Reads every file of `directory` once, so that its pages are cached.
    static func readFiles(in directory: String) {
        forEachFile(in: directory, flags: O_RDONLY) { descriptor in
            unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 18, alignment: 4096) { buffer in
                while unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
        }
    }

    /// Drops the cached pages of every file of `directory`, which nobody may have open or mapped.
    static func dropFiles(in directory: String) {
        forEachFile(in: directory, flags: O_RDONLY) { descriptor in
            fdatasync(descriptor)
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        }
    }

    /// Waits until everything written so far is on the medium.
    static func settle() {
        sync()
    }

    private static func forEachFile(in directory: String, flags: Int32, _ body: (Int32) -> Void) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
            let descriptor = unsafe open("\(directory)/\(name)", flags)
            guard descriptor >= 0 else { continue }
            body(descriptor)
            close(descriptor)
        }
    }
}
