/// Which contents a store, or a database, may have, now and after a crash: the present ones, those of commits that no sync has covered,
/// and those of attempts that failed or were cut off, which may have reached the medium nevertheless.
package struct PossibleStates<Model: Equatable & Sendable>: Sendable {
    /// Oldest first. The first is known to be on the medium.
    private var states: [Model]
    /// The number of the first of them among all attempts.
    private var firstAttempt = 0
    /// The number of the attempt that the newest acknowledged contents are of.
    package private(set) var currentAttempt = 0

    /// Only these contents are possible.
    package init(_ model: Model) { states = [model] }

    private var currentIndex: Int { currentAttempt - firstAttempt }

    /// The newest acknowledged contents.
    package var current: Model { states[currentIndex] }

    /// What may be there after a power failure.
    package var afterPowerFailure: ArraySlice<Model> { states[...] }

    /// What may be there for the next process while the machine stays up.
    package var afterProcessDeath: ArraySlice<Model> { states[currentIndex...] }

    /// A commit is about to be asked for. Returns the attempt's number.
    @discardableResult
    package mutating func attempt(_ model: Model) -> Int {
        states.append(model)
        return firstAttempt + states.count - 1
    }

    /// The attempt was acknowledged; those after it are still on their way, or failed.
    package mutating func acknowledge(_ attempt: Int, isDurable: Bool) {
        currentAttempt = attempt
        guard isDurable else { return }
        states.removeFirst(currentIndex)
        firstAttempt = attempt
    }

    /// The present contents were synced, and nothing is on its way.
    package mutating func settle() { settle(on: current) }

    /// `model` turned out to be what is there, durably.
    package mutating func settle(on model: Model) {
        firstAttempt += states.count
        currentAttempt = firstAttempt
        states = [model]
    }
}
