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

// MARK: - CurrentThread

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A reference of each thread's own, which it does not retain.
package struct ThreadLocal<Value: AnyObject>: Sendable {
    private let key: pthread_key_t

    package init() {
        var key = pthread_key_t()
        precondition(unsafe pthread_key_create(&key, nil) == 0, "The system has no keys for threads left.")
        self.key = key
    }

    /// That of the calling thread; `nil` where it has set none. It must live as long as it is set.
    package var value: Value? {
        get {
            guard let pointer = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<Value>.fromOpaque(pointer).takeUnretainedValue()
        }
        nonmutating set {
            unsafe pthread_setspecific(key, newValue.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
        }
    }
}

/// A thread whose priority can be lowered. It can't be raised again, for which programs need a privilege on Linux.
package struct ThreadPriority: Sendable {
    #if !canImport(Darwin)
        // On Linux, what is a process for the function is a thread (setpriority(2), "C library/kernel differences").
        /// Its number; `nil` where that is not known.
        private let thread: id_t?
        #if canImport(Musl)
            private static let kind = Int32(PRIO_PROCESS)
        #else
            private static let kind = Int32(PRIO_PROCESS.rawValue)
        #endif
    #endif

    /// The calling thread's.
    package init() {
        #if !canImport(Darwin)
            thread = Self.currentNumber
        #endif
    }

    #if !canImport(Darwin)
        /// The calling thread's number, which neither C library lets Swift ask for; `nil` where /proc is not mounted.
        private static var currentNumber: id_t? {
            let path = unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
                let text = unsafe buffer.bindMemory(to: CChar.self)
                let length = unsafe readlink("/proc/thread-self", text.baseAddress!, text.count)
                return unsafe String(decoding: buffer.prefix(max(0, length)), as: UTF8.self)
            }
            return path.split(separator: "/").last.flatMap { id_t($0) }
        }
    #endif

    /// Has the system prefer other threads to this one, if they can run. It still gets its part of a busy processor. On Apple's systems
    /// it must be the calling thread.
    package func lower() {
        #if canImport(Darwin)
            _ = unsafe pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
        #else
            guard let thread else { return }
            _ = setpriority(Self.kind, thread, min(19, getpriority(Self.kind, thread) + Self.step))
        #endif
    }

    #if !canImport(Darwin)
        /// On Linux, a thread has a third of the time of one whose number is less by this one.
        private static let step: Int32 = 5
    #endif
}

/// Tells threads apart that run at the same time. Never 0.
package func currentThread() -> UInt {
    #if canImport(Darwin) || canImport(Musl)
        unsafe UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}

// MARK: - ThreadRoom

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Whether the process's memory suffices for another thread.
///
/// Where a limit on the address space (`RLIMIT_AS`) leaves no room for a thread's stack, Dispatch tries again until there is some,
/// without an end: whoever gives it work then hangs. So work is kept on the calling thread, or refused, where this is `false`.
/// A process without such a limit is not looked at any further.
package func canStartThread() -> Bool {
    #if canImport(Darwin)
        return true
    #else
        guard isAddressSpaceLimited else { return true }
        let length = usualStack + 8 << 20
        guard
            let stack = unsafe mmap(
                nil, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_NORESERVE), -1, 0),
            unsafe stack != MAP_FAILED
        else { return false }
        unsafe munmap(stack, length)
        return true
    #endif
}

#if !canImport(Darwin)
    /// The limit is set before a program begins, as by a shell.
    private let isAddressSpaceLimited: Bool = {
        var limit = rlimit()
        #if canImport(Musl)
            return unsafe getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < rlim_t.max / 2
        #else
            return unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
                && limit.rlim_cur < rlim_t.max / 2
        #endif
    }()

    /// A new thread's stack, in bytes.
    private let usualStack: Int = {
        var attributes = pthread_attr_t()
        guard unsafe pthread_attr_init(&attributes) == 0 else { return 8 << 20 }
        defer { unsafe pthread_attr_destroy(&attributes) }
        var size = 0
        return unsafe pthread_attr_getstacksize(&attributes, &size) == 0 ? size : 8 << 20
    }()
#endif
