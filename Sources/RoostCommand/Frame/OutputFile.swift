import Foundation

/// Files that a command writes because it was asked to.
enum OutputFile {
    /// Writes `text` to the file at `path`, in the place of what is there.
    static func write(_ text: String, to path: String) throws {
        let descriptor = try create(path)
        defer { close(descriptor) }
        do {
            try write(Array(text.utf8)[...], to: descriptor)
        } catch {
            throw CommandFailure.system("\(path) can't be written")
        }
    }

    /// Opens the file at `path`, empty or to be appended to.
    static func create(_ path: String, appending isAppending: Bool = false) throws -> Int32 {
        let mode = isAppending ? O_APPEND : O_TRUNC
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | mode | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw CommandFailure.system("\(path) can't be written") }
        return descriptor
    }

    /// Writes all bytes; leaves the reason in `errno` when it can't.
    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError(number: errno)
            }
            rest = rest.dropFirst(count)
        }
    }
}

/// Why a call to the system failed.
struct SystemError: Error {
    let number: Int32
}
