import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The lock of an open file, taken with flock.
///
/// It belongs to the file itself, so it holds under every name that the file has. flock belongs to the open file, so
/// that two handles in one process exclude each other, unlike POSIX record locks, and the system releases it when the
/// process ends in whatever way.
final class PosixFileLock: FileLock {
    private let open: OpenFile
    private let isReleased = Atomic<Bool>(false)

    /// Takes the lock of `file`, which is open as `open`, or throws ``FileError/Code/locked(holder:)``.
    init(_ file: PosixFile, _ open: OpenFile) throws(FileError) {
        let descriptor = open.descriptor
        guard tryLock(descriptor) == 0 else {
            let number = lastErrno()
            let code: FileError.Code =
                number == EWOULDBLOCK
                ? .locked(holder: lockHolder(of: descriptor)) : FileError.Code(errno: number)
            throw FileError(code, operation: "lock", path: file.path, errno: number)
        }
        self.open = open
    }

    /// Takes the lock of `file` once nobody has it.
    ///
    /// Who waits for flock alone may lose it again and again to whoever gave it up and asks at once. So everybody passes a
    /// gate on the way, and whoever waits for the lock stands in it.
    init(waitingFor file: PosixFile, _ open: OpenFile) throws(FileError) {
        let descriptor = open.descriptor
        enterGate(descriptor)
        let outcome = waitForLock(descriptor)
        let number = lastErrno()
        leaveGate(descriptor)
        guard outcome == 0 else {
            throw FileError(errno: number, operation: "lock", path: file.path)
        }
        self.open = open
    }

    deinit { release() }

    func release() {
        // Once: the descriptor may hold the lock again, for somebody else.
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // A child that was forked shares the lock with its parent, whose it is.
        guard !open.isInherited else { return }
        // Closing alone would leave the lock to a child that was forked meanwhile and has yet to execute.
        releaseLock(open.descriptor)
    }
}

// MARK: - LockHolder

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The process that holds the lock of an open file, as a message to others names it: `process 4711 (notesd)`.
///
/// Linux tells in `/proc/locks` (proc(5)); where the system doesn't, it is `another process`.
func lockHolder(of descriptor: Int32) -> String {
    var status = stat()
    guard statusOfDescriptor(descriptor, &status) == 0,
        let locks = smallFile("/proc/locks"),
        let number = holder(in: locks, of: procName(FileIdentity(status)))
    else { return "another process" }
    return "process \(number)" + (programName(number).map { " (\($0))" } ?? "")
}

/// A file as `/proc/locks` names it: the device's two numbers in hexadecimal, and the inode.
private func procName(_ identity: FileIdentity) -> String {
    let device = identity.device
    let major = (device >> 8 & 0xFFF) | (device >> 32 & ~0xFFF)
    let minor = (device & 0xFF) | (device >> 12 & ~0xFF)
    return "\(hexadecimal(major)):\(hexadecimal(minor)):\(identity.inode)"
}

private func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return digits.utf8.count < 2 ? "0" + digits : digits
}

/// The process of the line `1: FLOCK  ADVISORY  WRITE 4711 fe:00:16220188 0 EOF`.
private func holder(in locks: String, of file: String) -> Int32? {
    for line in locks.split(separator: "\n") {
        let fields = line.split(separator: " ")
        if fields.count > 5, fields[1] == "FLOCK", fields[5] == file { return Int32(fields[4]) }
    }
    return nil
}

private func programName(_ process: Int32) -> String? {
    let command = smallFile("/proc/\(process)/cmdline")?.split(separator: "\0").first
    return command?.split(separator: "/").last.map(String.init)
}

/// The text of a file of the system's, up to a bound; its bytes are repaired where they are no UTF-8.
private func smallFile(_ path: String) -> String? {
    let descriptor = openDescriptor(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { closeDescriptor(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count < 1 << 20 {
        let part = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, count in
            unsafe count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        if part.isEmpty { break }
        bytes += part
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
}
