extension SimulatedMedium {
    /// From now on, until the disk crashes, what the engine does beside other things is done when `generator` decides, and `visit` is
    /// called before and after changes of the disk, with their kind, where other threads might do something. Whatever `visit` does
    /// must not wait for the call that it comes in.
    ///
    /// Only one thread may use the disk, and files that are open on it, from now on.
    package func beginInterludes(_ generator: SeededGenerator, visit: @escaping (CallKind) -> Void) {
        interludes.set(Interludes(generator, visit: visit))
    }
}

/// Where a disk keeps its interludes: set before the disk is used, and used by one thread.
struct InterludesSlot: @unchecked Sendable {
    private final class Content {
        var interludes: Interludes?
    }

    private let content = Content()

    var value: Interludes? { content.interludes }

    func set(_ interludes: Interludes?) { content.interludes = interludes }
}
