import RoostStorage

// Long work for tasks: on threads of Roost's own, and stopped when the task is cancelled.

extension Database {
    /// As ``compact(_:progress:)-(_,ProgressHandler?)``, without blocking a thread of the task's executor.
    ///
    /// - Parameters:
    ///   - options: its speed, its memory, and the form of what it writes.
    ///   - progress: called on a thread of Roost's; returns `false` to stop, which leaves everything as it was.
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`; `cancelled` when the task is cancelled or `progress` says so.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(),
        progress: (@Sendable (WorkProgress) -> Bool)? = nil
    ) async throws(DatabaseError) -> CompactionResult {
        try await work { (database, flag) throws(DatabaseError) in
            try database.compact(options) { flag.allows($0, progress) }
        }
    }

    /// As ``check(_:progress:)-(_,ProgressHandler?)``, without blocking a thread of the task's executor.
    ///
    /// - Parameters:
    ///   - options: what to verify.
    ///   - progress: called on a thread of Roost's; returns `false` to stop.
    /// - Returns: what was found; damage does not throw.
    /// - Throws: `inputOutput`; `cancelled` when the task is cancelled or `progress` says so.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: (@Sendable (WorkProgress) -> Bool)? = nil
    ) async throws(DatabaseError) -> DatabaseCheckReport {
        try await work { (database, flag) throws(DatabaseError) in
            try database.check(options) { flag.allows($0, progress) }
        }
    }

    /// As ``backup(to:progress:)-(_,ProgressHandler?)``, without blocking a thread of the task's executor.
    ///
    /// - Parameters:
    ///   - path: the backup's directory; made if it is missing.
    ///   - progress: called on a thread of Roost's; returns `false` to stop.
    /// - Throws: `noSpace`, `inputOutput`, `notADatabase` when something else is at `path`; `cancelled` when the task is
    ///   cancelled or `progress` says so.
    @discardableResult
    public func backup(
        to path: String, progress: (@Sendable (WorkProgress) -> Bool)? = nil
    ) async throws(DatabaseError) -> BackupReport {
        try await work { (database, flag) throws(DatabaseError) in
            try database.backup(to: path) { flag.allows($0, progress) }
        }
    }

    /// Runs `body` on a thread of Roost's, with a flag that tells when the task is cancelled.
    func work<R: Sendable>(
        _ body: @escaping @Sendable (Database, CancellationFlag) throws(DatabaseError) -> R
    ) async throws(DatabaseError) -> R {
        try await core.workers.run(cancelled: .cancelledBeforeStart) { (flag) throws(DatabaseError) in
            try body(self, flag)
        }
    }
}

extension CancellationFlag {
    /// Whether work may go on: neither the task nor `handler` has had enough.
    fileprivate func allows(_ progress: WorkProgress, _ handler: (@Sendable (WorkProgress) -> Bool)?) -> Bool
    {
        !isSet && handler?(progress) ?? true
    }
}
