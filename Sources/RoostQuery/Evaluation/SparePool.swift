import Synchronization

/// Things that take some work to make and that one thread at a time can use: whoever has done with one leaves it for the next.
final class SparePool<Thing>: Sendable {
    private struct Spare: @unchecked Sendable {
        // Handed from one thread to another, and used by one only.
        let thing: Thing
    }

    /// So many are kept, which is as many threads as there mostly are.
    private let capacity: Int
    private let spares = Mutex<[Spare]>([])

    init(capacity: Int = 16) { self.capacity = capacity }

    /// A thing that is nobody else's from now on; `nil` where one has to be made.
    func take() -> Thing? { spares.withLock { $0.popLast() }?.thing }

    /// Leaves a thing that nobody uses any more.
    func giveBack(_ thing: Thing) {
        let spare = Spare(thing: thing)
        spares.withLock { if $0.count < capacity { $0.append(spare) } }
    }
}
