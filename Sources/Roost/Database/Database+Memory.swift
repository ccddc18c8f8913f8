import RoostFile

extension Database {
    /// A new database in memory, with everything that one on a disk has, blobs among it: for tests, for previews of views, and
    /// for what need not outlive the process.
    ///
    /// ```swift
    /// let database = try Database.inMemory()
    /// ```
    ///
    /// It goes with its last reference, or when it is closed. To keep what is in it, back it up to a directory:
    /// ``backup(to:progress:)-(_,ProgressHandler?)``. Its ``path`` is the path of nothing.
    ///
    /// - Parameter options: As for a database on a disk; with a key, what is in memory is encrypted, too.
    /// - Throws: `limitExceeded`, for options that can't be.
    public static func inMemory(options: DatabaseOptions = DatabaseOptions()) throws(DatabaseError)
        -> Database
    {
        var options = options
        options.isReadOnly = false
        options.createsIfMissing = true
        var environment = Environment.system
        let medium = MemoryMedium(root: "memory:", over: environment.medium)
        environment.medium = medium
        let database = try open("\(medium.root)/Database.roost", options: options, environment: environment)
        database.core.expirations.start(database.core)
        return database
    }
}
