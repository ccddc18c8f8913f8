/// Which contents a store may have, now and after a crash: the present ones, those of commits that no sync has covered,
/// and those of attempts that failed or were cut off, which may have reached the medium nevertheless.
package struct PossibleStates: Sendable {
    /// Oldest first. The first is known to be on the medium.
    private var states: [StoreModel]
    /// Where the newest acknowledged contents are.
    private var currentIndex = 0

    /// Only these contents are possible.
    package init(_ model: StoreModel = StoreModel()) { states = [model] }

    /// The newest acknowledged contents.
    package var current: StoreModel { states[currentIndex] }

    /// What may be there after a power failure.
    package var afterPowerFailure: ArraySlice<StoreModel> { states[...] }

    /// What may be there for the next process while the machine stays up.
    package var afterProcessDeath: ArraySlice<StoreModel> { states[currentIndex...] }

    /// A commit is about to be asked for.
    package mutating func attempt(_ model: StoreModel) { states.append(model) }

    /// The last attempt was acknowledged.
    package mutating func acknowledge(isDurable: Bool) {
        currentIndex = states.count - 1
        if isDurable { settle() }
    }

    /// The present contents were synced.
    package mutating func settle() { settle(on: current) }

    /// `model` turned out to be what is there, durably.
    package mutating func settle(on model: StoreModel) {
        states = [model]
        currentIndex = 0
    }
}
