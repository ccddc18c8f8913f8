extension Store {
    /// Makes the function of a reduction known, from now on. One of the same name that is known already stays.
    public func register(_ reduction: Reduction) { options.reductions.add(reduction) }

    /// Whether the store was opened for reading only.
    package var isReadOnly: Bool { options.isReadOnly }

    /// What transforms the chunks of the present file; `nil` where nothing does, and after closing.
    package var transform: (any ChunkTransform)? { state.file.codec.transform }

    /// When its commits count as done.
    package var durability: StoreOptions.Durability { options.durability }
}
