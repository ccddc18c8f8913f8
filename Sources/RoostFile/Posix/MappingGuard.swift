import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Keeps what cannot be read of a mapped file from ending the process.
///
/// The system reports an unreadable page of a mapping by the signal SIGBUS, at the instruction that touched it. The guard's
/// handler puts a page of zeros in its place, counts it, and lets the instruction go on (as compositors that share memory
/// with their clients do). Whoever reads through the mapping verifies a checksum, and then looks at ``LostPages``: so zeros
/// never pass for what the file holds, and a call says what is wrong with it. Signals from elsewhere go to the handler that
/// was there before. Any thread may use it.
@safe enum MappingGuard {
    /// How many mappings there can be at one time.
    private static let places = 4096
    /// The mappings there are. Made before the handler is, never freed.
    private nonisolated(unsafe) static let spans: UnsafeMutablePointer<Span> = {
        let spans = UnsafeMutablePointer<Span>.allocate(capacity: places)
        for place in 0..<places { unsafe (spans + place).initialize(to: Span()) }
        return unsafe spans
    }()

    /// A guarded mapping; zeros where there is none.
    private struct Span: ~Copyable {
        let start = Atomic<UInt>(0)
        let end = Atomic<UInt>(0)
        /// The address of the counter of its lost pages.
        let counter = Atomic<UInt>(0)
    }

    /// Who was asked before.
    private nonisolated(unsafe) static let previous: UnsafeMutablePointer<sigaction> = {
        let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 1)
        unsafe previous.initialize(to: sigaction())
        return unsafe previous
    }()
    static let pageSize = Int(sysconf(CInt(_SC_PAGESIZE)))

    /// Installs the handler, once. Everything that it uses exists by then, so that it neither allocates nor locks.
    private static let isInstalled: Bool = {
        unsafe _ = (spans, previous, pageSize)
        var action = sigaction()
        action.sa_flags = CInt(SA_SIGINFO | SA_ONSTACK)
        unsafe sigemptyset(&action.sa_mask)
        unsafe action.setHandler { signal, info, context in
            let error = errno
            let isMended = unsafe info.map { unsafe MappingGuard.mend($0.pointee.address) } ?? false
            errno = error
            if !isMended { unsafe MappingGuard.passOn(signal, info, context) }
        }
        return unsafe sigaction(SIGBUS, &action, previous) == 0
    }()

    /// Guards the `length` bytes at `base` from now on, adding to `counter`; `false` where that is not possible.
    static func protect(
        _ base: UnsafeMutableRawPointer, _ length: Int, _ counter: UnsafeMutablePointer<Atomic<Int>>
    ) -> Bool {
        guard isInstalled else { return false }
        let start = UInt(bitPattern: base)
        for place in 0..<places {
            let (isTaken, _) = unsafe spans[place].start.compareExchange(
                expected: 0, desired: start, ordering: .acquiringAndReleasing)
            if isTaken {
                unsafe spans[place].counter.store(UInt(bitPattern: counter), ordering: .releasing)
                unsafe spans[place].end.store(start + UInt(length), ordering: .releasing)
                return true
            }
        }
        return false
    }

    /// Forgets the mapping at `base`, which nobody reads any more.
    static func release(_ base: UnsafeMutableRawPointer) {
        let start = UInt(bitPattern: base)
        for place in 0..<places where unsafe spans[place].start.load(ordering: .acquiring) == start {
            unsafe spans[place].end.store(0, ordering: .releasing)
            unsafe spans[place].start.store(0, ordering: .releasing)
            return
        }
    }

    /// Puts zeros in the place of the page at `address`, if it is in a guarded mapping.
    private static func mend(_ address: UInt) -> Bool {
        for place in 0..<places {
            let start = unsafe spans[place].start.load(ordering: .acquiring)
            guard start > 0, start <= address else { continue }
            guard unsafe address < spans[place].end.load(ordering: .acquiring) else { continue }
            let page = unsafe UnsafeMutableRawPointer(bitPattern: address & ~UInt(pageSize - 1))
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
            let mended = unsafe mmap(page, pageSize, PROT_READ, flags, -1, 0)
            guard unsafe mended != MAP_FAILED else { return false }
            let counter = unsafe spans[place].counter.load(ordering: .acquiring)
            unsafe UnsafeMutablePointer<Atomic<Int>>(bitPattern: counter)?.pointee.add(
                1, ordering: .acquiringAndReleasing)
            return true
        }
        return false
    }

    /// Does with a signal what would have been done without the guard.
    private static func passOn(
        _ signal: CInt, _ info: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?
    ) {
        if unsafe previous.pointee.sa_flags & CInt(SA_SIGINFO) != 0,
            let handler = unsafe previous.pointee.informedHandler
        {
            return unsafe handler(signal, info, context)
        }
        if let handler = unsafe previous.pointee.simpleHandler { return handler(signal) }
        // The default: the instruction is tried again and ends the process.
        unsafe sigaction(signal, previous, nil)
    }
}

private typealias InformedHandler =
    @convention(c) (CInt, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void

extension siginfo_t {
    /// The address that could not be read.
    fileprivate var address: UInt {
        #if canImport(Darwin)
            unsafe UInt(bitPattern: si_addr)
        #elseif canImport(Musl)
            unsafe UInt(bitPattern: __si_fields.__sigfault.si_addr)
        #else
            unsafe UInt(bitPattern: _sifields._sigfault.si_addr)
        #endif
    }
}

extension sigaction {
    fileprivate mutating func setHandler(_ handler: @escaping InformedHandler) {
        #if canImport(Darwin)
            unsafe __sigaction_u.__sa_sigaction = handler
        #elseif canImport(Musl)
            unsafe __sa_handler.sa_sigaction = handler
        #else
            unsafe __sigaction_handler.sa_sigaction = handler
        #endif
    }

    fileprivate var informedHandler: InformedHandler? {
        #if canImport(Darwin)
            unsafe __sigaction_u.__sa_sigaction
        #elseif canImport(Musl)
            unsafe __sa_handler.sa_sigaction
        #else
            unsafe __sigaction_handler.sa_sigaction
        #endif
    }

    /// `nil` where signals are left to the system (SIG_DFL) or ignored (SIG_IGN, 1), which this one cannot be.
    fileprivate var simpleHandler: (@convention(c) (CInt) -> Void)? {
        #if canImport(Darwin)
            let handler = unsafe __sigaction_u.__sa_handler
        #elseif canImport(Musl)
            let handler = unsafe __sa_handler.sa_handler
        #else
            let handler = unsafe __sigaction_handler.sa_handler
        #endif
        return unsafe UInt(bitPattern: unsafeBitCast(handler, to: Int.self)) > 1 ? handler : nil
    }
}
