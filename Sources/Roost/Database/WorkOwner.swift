/// Whom work is done for, by which it waits its turn.
package struct WorkOwner: Hashable, Sendable {
    let user: ByteKey
    let database: ByteKey

    /// - Parameters:
    ///   - user: What tells one who asks from another.
    ///   - database: What tells one database from another; work of one user for several takes turns.
    package init(user: String = "", database: String = "") {
        self.user = ByteKey(user)
        self.database = ByteKey(database)
    }

    private init(_ user: ByteKey) {
        self.user = user
        database = ByteKey("")
    }

    /// The same user, whatever the database.
    package var ofAllDatabases: WorkOwner { WorkOwner(user) }
}
