#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import CRoostEpoll
    import Musl
#else
    import CRoostEpoll
    import Glibc
#endif

/// Waits for many descriptors at once: epoll on Linux, kqueue on Apple's systems.
///
/// It reports edges: when there is something new to read, or room again to write, and not again before a call has failed with
/// `EAGAIN`. Any number of threads may wait, and each edge wakes one of them.
struct Poller: Sendable {
    /// What a descriptor has become ready for. Its end and its errors count as both.
    struct Event {
        var token: UInt64
        var isReadable: Bool
        var isWritable: Bool
    }

    /// The token of ``wake()``.
    static let wakeToken: UInt64 = 0
    private static let mostEvents = 64

    #if canImport(Darwin)
        private let queue: Int32

        init() {
            queue = kqueue()
            precondition(queue >= 0, "The system has no kqueue left (\(errno)).")
            change(0, EVFILT_USER, EV_ADD | EV_CLEAR, token: Self.wakeToken)
        }

        /// Tells of a descriptor from now on, and at once of what it is ready for already.
        ///
        /// - Returns: Whether the system could.
        func add(_ descriptor: Int32, token: UInt64) -> Bool {
            change(UInt(descriptor), EVFILT_READ, EV_ADD | EV_CLEAR, token: token)
                && change(UInt(descriptor), EVFILT_WRITE, EV_ADD | EV_CLEAR, token: token)
        }

        /// Tells no more of a descriptor, which is still open.
        func remove(_ descriptor: Int32) {
            change(UInt(descriptor), EVFILT_READ, EV_DELETE, token: 0)
            change(UInt(descriptor), EVFILT_WRITE, EV_DELETE, token: 0)
        }

        /// Makes one thread return from ``wait(blocking:_:)``, or the next one that would wait.
        func wake() { change(0, EVFILT_USER, 0, Int(NOTE_TRIGGER), token: Self.wakeToken) }

        /// Calls `body` with what has become ready.
        ///
        /// - Parameter blocking: Whether to wait until something has.
        func wait(blocking: Bool, _ body: (Event) -> Void) {
            unsafe withUnsafeTemporaryAllocation(of: kevent.self, capacity: Self.mostEvents) { events in
                var atOnce = timespec(tv_sec: 0, tv_nsec: 0)
                let count =
                    unsafe blocking
                    ? systemEvents(queue, nil, 0, events.baseAddress, Int32(events.count), nil)
                    : systemEvents(queue, nil, 0, events.baseAddress, Int32(events.count), &atOnce)
                for index in 0..<Int(max(0, count)) {
                    let event = unsafe events[index]
                    body(
                        unsafe Event(
                            token: UInt64(UInt(bitPattern: event.udata)),
                            isReadable: event.filter == Int16(EVFILT_READ),
                            isWritable: event.filter == Int16(EVFILT_WRITE)))
                }
            }
        }

        @discardableResult
        private func change(
            _ identifier: UInt, _ filter: Int32, _ flags: Int32, _ filterFlags: Int = 0, token: UInt64
        ) -> Bool {
            var event = unsafe kevent(
                ident: identifier, filter: Int16(filter), flags: UInt16(flags), fflags: UInt32(filterFlags),
                data: 0, udata: UnsafeMutableRawPointer(bitPattern: UInt(token)))
            return unsafe systemEvents(queue, &event, 1, nil, 0, nil) == 0
        }
    #else
        private let queue: Int32
        /// What ``wake()`` writes to.
        private let bell: Int32

        init() {
            queue = epoll_create1(Int32(EPOLL_CLOEXEC))
            bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            precondition(queue >= 0 && bell >= 0, "The system has no descriptors left (\(errno)).")
            _ = add(bell, token: Self.wakeToken)
        }

        /// Tells of a descriptor from now on, and at once of what it is ready for already.
        ///
        /// - Returns: Whether the system could.
        func add(_ descriptor: Int32, token: UInt64) -> Bool {
            let kinds = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLET.rawValue
            var event = unsafe epoll_event(events: kinds, data: epoll_data_t(u64: token))
            return unsafe epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event) == 0
        }

        /// Tells no more of a descriptor, which is still open.
        func remove(_ descriptor: Int32) {
            var event = unsafe epoll_event()
            _ = unsafe epoll_ctl(queue, EPOLL_CTL_DEL, descriptor, &event)
        }

        /// Makes one thread return from ``wait(blocking:_:)``, or the next one that would wait.
        func wake() {
            // Each write is an edge, and the count has room for more of them than a machine lives to make.
            var one: UInt64 = 1
            _ = unsafe write(bell, &one, MemoryLayout<UInt64>.size)
        }

        /// Calls `body` with what has become ready.
        ///
        /// - Parameter blocking: Whether to wait until something has.
        func wait(blocking: Bool, _ body: (Event) -> Void) {
            unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.mostEvents) { events in
                let count = unsafe epoll_wait(
                    queue, events.baseAddress, Int32(events.count), blocking ? -1 : 0)
                for index in 0..<Int(max(0, count)) {
                    let (token, kinds) = unsafe (events[index].data.u64, events[index].events)
                    let isOver = kinds & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
                    body(
                        Event(
                            token: token, isReadable: isOver || kinds & EPOLLIN.rawValue != 0,
                            isWritable: isOver || kinds & EPOLLOUT.rawValue != 0))
                }
            }
        }
    #endif
}

#if canImport(Darwin)
    // The type has the same name.
    private let systemEvents = unsafe kevent
#endif
