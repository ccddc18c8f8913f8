import Foundation
import RoostCrypto

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A random text of 32 characters that is made once and kept, in a file that only its owner can read.
enum SecretFile {
    private static let length = 32

    /// The text of a file; made where there is none.
    ///
    /// The file comes into being with all of its content, durably: at no time, and after no crash, is there a part of it, and of several
    /// processes that make it at the same time all read that of the first.
    ///
    /// - Throws: An error of the file system, also where the file is there and can't be read.
    static func text(_ path: String) throws -> String {
        if let text = try read(path) { return text }
        let text = RandomText.hexadecimal(bytes: length / 2)
        let temporary = "\(path).\(RandomText.hexadecimal(bytes: 8))"
        defer { unsafe unlink(temporary) }
        try write(text, to: temporary)
        if unsafe link(temporary, path) != 0 {
            guard errno == EEXIST else { throw failure(path) }
            if let text = try read(path) { return text }
            // What an earlier build left of a file when it was killed.
            guard unsafe rename(temporary, path) == 0 else { throw failure(path) }
        }
        try synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        return text
    }

    /// The file's text; `nil` where there is none, or one of another length.
    private static func read(_ path: String) throws -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let data = try handle.read(upToCount: length + 1) ?? Data()
        return data.count == length ? String(decoding: data, as: UTF8.self) : nil
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    private static func synchronize(_ directory: String) throws {
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(directory) }
    }

    private static func failure(_ path: String) -> any Error {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        return NSError(
            domain: NSPOSIXErrorDomain, code: Int(code.rawValue), userInfo: [NSFilePathErrorKey: path])
    }
}
