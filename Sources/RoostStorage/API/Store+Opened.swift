extension Store {
    /// Makes the function of a reduction known, from now on. One of the same name that is known already stays.
    public func register(_ reduction: Reduction) { options.reductions.add(reduction) }

    /// Whether the store was opened for reading only.
    package var isReadOnly: Bool { options.readOnly }

    /// When its commits count as done.
    package var durability: StoreOptions.Durability { options.durability }
}
