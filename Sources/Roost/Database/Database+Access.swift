import RoostStorage

extension Database {
    /// Runs `body` with a batch of changes and commits them: all or nothing, with one sync.
    ///
    /// Returns when they are durable (see ``DatabaseOptions/durability``). An error thrown by `body` undoes
    /// everything. Writers run one after the other: keep `body` short, and write through the batch only.
    ///
    /// - Throws: what `body` throws; `readOnly`, `nestedWrite`, `closed`, `noSpace`, `inputOutput`, `writerFailed`.
    @discardableResult
    public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try checkWritable()
        return try core.write(body)
    }

    /// As the synchronous form, without blocking a thread of the task's executor.
    ///
    /// A task that is cancelled before its turn has come throws `cancelled`, and nothing was changed. From then on the
    /// write is finished, unless `body` asks with ``WriteTransaction/checkCancellation()``.
    @discardableResult
    public func write<R: Sendable>(_ body: @escaping @Sendable (WriteTransaction) throws -> R) async throws
        -> R
    {
        try await write(for: WorkOwner(), body)
    }

    /// As the form for tasks, in the turns of an owner.
    package func write<R: Sendable>(
        for owner: WorkOwner, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        try checkWritable()
        let core = core
        let cancelled: any Error = DatabaseError.cancelledBeforeStart
        let carried = ReadCounts.carrier()
        return try await core.workers.run(for: owner, cancelled: cancelled) { flag in
            try carried { try core.write(cancellation: flag, body) }
        }
    }

    /// As the form for tasks, with a value that `body` changes along with the documents, such as a draft that it saves.
    ///
    /// - Parameters:
    ///   - state: What `body` may change. It keeps its value when the write fails.
    ///   - body: Makes the changes.
    @discardableResult
    public func write<State: Sendable, R: Sendable>(
        updating state: inout State, _ body: @escaping @Sendable (WriteTransaction, inout State) throws -> R
    ) async throws -> R {
        let before = state
        let (after, result) = try await write { batch in
            var state = before
            let result = try body(batch, &state)
            return (state, result)
        }
        state = after
        return result
    }

    /// Runs `body`, which reads, on a thread of Roost's own, so that no thread of the task's executor waits for the medium.
    package func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try checkOpen()
        return try await core.workers.run(cancelled: DatabaseError.cancelledBeforeStart as any Error) { _ in
            try body()
        }
    }

    /// The whole database as of now; see ``DatabaseSnapshot``.
    public func snapshot() throws(DatabaseError) -> DatabaseSnapshot {
        try checkOpen()
        return DatabaseSnapshot(core, core.openSnapshots.newest(of: core.store))
    }

    /// The whole database as of now, with an object of its own that `make` has made: it goes with this state of the database
    /// until there is a newer one, and then with the snapshots that keep it. It must not keep the database.
    package func present<T: AnyObject & Sendable>(
        _ make: () -> T
    ) throws(DatabaseError) -> (snapshot: DatabaseSnapshot, companion: T) {
        try checkOpen()
        let newest = core.store.snapshot()
        if let known = newest.companion(T.self) { return (DatabaseSnapshot(core, newest), known) }
        let taken = core.openSnapshots.newest(of: core.store)
        return (DatabaseSnapshot(core, taken), taken.companion(make))
    }

    /// Runs `body` with the whole database as of now.
    public func read<R>(_ body: (DatabaseSnapshot) throws -> R) throws -> R {
        try body(try snapshot())
    }
}
