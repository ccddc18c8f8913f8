#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

// The system calls whose names or forms differ between platforms, or that a method of the same name would
// shadow. Each is one call (`retrying` excepted) and reports as the call itself does: -1, with `errno` set.

/// Makes `call` again for as long as a signal interrupts it; for calls that are the same made twice.
func retrying(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// The calling thread's last error number.
func lastErrno() -> Int32 { errno }

func openDescriptor(_ path: String, _ flags: Int32, permissions: mode_t = 0) -> Int32 {
    retrying { unsafe open(path, flags | O_CLOEXEC, permissions) }
}

/// A second close would close somebody else's descriptor, so this is never retried.
func closeDescriptor(_ descriptor: Int32) {
    _ = close(descriptor)
}

/// Returns once the file's bytes and what is needed to find them again (its size) are on the medium.
func synchronize(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
        // fsync there only hands the bytes to the drive, which may keep them in its cache. File systems that
        // don't know F_FULLFSYNC (network and foreign ones) are given the best they have.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        guard [ENOTSUP, EOPNOTSUPP, ENOTTY, EINVAL].contains(errno) else { return -1 }
        return fsync(descriptor)
    #else
        return fdatasync(descriptor)
    #endif
}

/// Asks the system to begin writing these bytes to the medium, and doesn't wait. It promises nothing: a sync must follow.
func requestWriteback(_ descriptor: Int32, _ offset: off_t, _ length: Int) {
    #if canImport(Glibc)
        // SYNC_FILE_RANGE_WRITE
        _ = synchronizeRange?(descriptor, offset, off_t(length), 2)
    #endif
}

#if canImport(Glibc)
    private typealias SynchronizeRange = @convention(c) (Int32, off_t, off_t, UInt32) -> Int32

    /// sync_file_range, which the module of the C library leaves out as an extension of Linux.
    private let synchronizeRange: SynchronizeRange? = unsafe dlsym(nil, "sync_file_range").map {
        unsafe unsafeBitCast($0, to: SynchronizeRange.self)
    }
#endif

/// Synchronizes a directory's entries; fdatasync is not promised to cover them, so fsync it is.
func synchronizeDirectory(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
        return synchronize(descriptor)
    #else
        return fsync(descriptor)
    #endif
}

/// Whether nobody else has opened or mapped a file; `false` where the system can't tell.
///
/// Linux gives a lease for writing only then: fcntl(2), F_SETLEASE.
func isOpenedOnce(_ descriptor: Int32) -> Bool {
    #if os(Linux)
        guard fcntl(descriptor, setLease, Int32(F_WRLCK)) == 0 else { return false }
        return fcntl(descriptor, setLease, Int32(F_UNLCK)) == 0
    #else
        return false
    #endif
}

#if os(Linux)
    /// F_SETLEASE, which the module of the C library leaves out as an extension of Linux.
    private let setLease: Int32 = 1024
#endif

/// Gives an open file another owner; `nil` for the same user as before.
func changeOwner(_ descriptor: Int32, _ user: uid_t?, _ group: gid_t) -> Int32 {
    fchown(descriptor, user ?? .max, group)
}

func changePermissions(_ descriptor: Int32, _ permissions: UInt16) -> Int32 {
    fchmod(descriptor, mode_t(permissions))
}

func renameEntry(_ source: String, _ destination: String) -> Int32 {
    unsafe rename(source, destination)
}

/// unlink for files, rmdir for directories.
func removeEntry(_ path: String) -> Int32 {
    unsafe remove(path)
}

func makeDirectory(_ path: String, permissions: mode_t) -> Int32 {
    unsafe mkdir(path, permissions)
}

func statusOfDescriptor(_ descriptor: Int32, _ status: inout stat) -> Int32 {
    unsafe fstat(descriptor, &status)
}

/// The status of a name itself, a link's where it is one.
func statusOfName(_ path: String, _ status: inout stat) -> Int32 {
    unsafe lstat(path, &status)
}

/// The status of what a path leads to.
func statusOfPath(_ path: String, _ status: inout stat) -> Int32 {
    unsafe stat(path, &status)
}

/// Takes the whole-file lock without waiting; `EWOULDBLOCK` when another open file description has it.
func tryLock(_ descriptor: Int32) -> Int32 {
    retrying { flock(descriptor, LOCK_EX | LOCK_NB) }
}

func waitForLock(_ descriptor: Int32) -> Int32 {
    retrying { flock(descriptor, LOCK_EX) }
}

/// Waits for the lock of one byte far beyond any file's end, which belongs to the open file. Where the system or the file
/// system has no such locks, nobody waits.
func enterGate(_ descriptor: Int32) { setGate(descriptor, Int16(F_WRLCK)) }

func leaveGate(_ descriptor: Int32) { setGate(descriptor, Int16(F_UNLCK)) }

private func setGate(_ descriptor: Int32, _ kind: Int16) {
    #if os(Linux) || canImport(Musl)
        let setAndWait: Int32 = 38  // F_OFD_SETLKW
    #else
        let setAndWait: Int32 = 91
    #endif
    var gate = flock()
    gate.l_type = kind
    gate.l_whence = Int16(SEEK_SET)
    gate.l_start = off_t(1) << 62
    gate.l_len = 1
    _ = retrying { unsafe fcntl(descriptor, setAndWait, &gate) }
}

func releaseLock(_ descriptor: Int32) {
    _ = retrying { flock(descriptor, LOCK_UN) }
}

/// The names in a directory but for "." and "..", or `nil` with `errno` set.
func namesInDirectory(_ path: String) -> [String]? {
    let descriptor = openDescriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    guard let directory = unsafe fdopendir(descriptor) else {
        let number = errno
        closeDescriptor(descriptor)
        errno = number
        return nil
    }
    var names: [String] = []
    while true {
        // readdir tells the end and an error apart by errno alone.
        errno = 0
        guard let entry = unsafe readdir(directory) else {
            let number = errno
            unsafe closedir(directory)
            errno = number
            return number == 0 ? names : nil
        }
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
            unsafe String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
        }
        if name != ".", name != ".." { names.append(name) }
    }
}

/// Fills `buffer` from the system's generator.
func fillRandom(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress else { return }
    #if canImport(Darwin)
        unsafe arc4random_buf(base, buffer.count)
    #else
        // getentropy is getrandom without its short reads and interruptions, 256 bytes at most a call.
        var done = 0
        while done < buffer.count {
            let count = min(256, buffer.count - done)
            guard unsafe getentropy(base + done, count) == 0 else {
                fatalError(
                    "the system has no random bytes (errno \(errno)): no key or salt can be made safely")
            }
            done += count
        }
    #endif
}
