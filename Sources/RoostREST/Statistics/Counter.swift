import Synchronization

/// A number that many threads add to without waiting for each other.
final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)

    var value: UInt64 { count.load(ordering: .relaxed) }

    func add(_ number: UInt64 = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}
