import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Tells a process apart from those that it was forked from, without asking the system.
enum ForkCount {
    private static let count = Atomic<UInt64>(0)

    private static let isCounting: Bool = {
        // Made before anything is forked: a child may find no lock free.
        _ = count.load(ordering: .relaxed)
        return pthread_atfork(nil, nil, { ForkCount.count.add(1, ordering: .relaxed) }) == 0
    }()

    /// How many forks lie between this process and the one that asked first.
    static var current: UInt64 { isCounting ? count.load(ordering: .relaxed) : 0 }
}
