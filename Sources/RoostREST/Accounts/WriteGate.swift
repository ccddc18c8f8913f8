import Fleece
import Roost
import RoostSync
import RoostWire

/// What every write from outside to `_users`, to `_replicator` and to design documents passes, within the write: whether it is a PUT, a
/// COPY, a bulk request, an attachment, a revision of a replicator, or a replication that this server runs.
struct WriteGate: Sendable {
    /// A revision that is about to be stored.
    struct Revision {
        let id: String
        let properties: FleeceValue
        let isDeleted: Bool
        /// What it replaces: of an edit, the revision it is based on; of one that was made elsewhere, all of its history.
        let parents: [RevisionID]
        /// Whether it was edited here, and is not brought by a replicator.
        let isEdit: Bool
        /// Whether the server has just made the password's record of a new password.
        let hasNewPassword: Bool
    }

    let name: DatabaseName
    let collection: DocumentCollection
    let user: UserContext
    /// Whether the user administers the database.
    let mayDesign: Bool
    let accounts: Accounts

    /// What replications of this server pass, which administrators alone begin.
    static func ofReplications(
        to name: DatabaseName, _ collection: DocumentCollection, _ accounts: Accounts
    ) -> ReplicationGate? {
        guard name.isSystem else { return nil }
        let gate = WriteGate(
            name: name, collection: collection, user: .admin, mayDesign: true, accounts: accounts)
        return { id, properties, isDeleted, history, batch in
            try gate.admit(
                Revision(
                    id: id, properties: properties, isDeleted: isDeleted, parents: history, isEdit: false,
                    hasNewPassword: false), in: batch)
        }
    }

    /// - Throws: 401 or 403 for a design document of a user who does not administer the database.
    func requireDesigner(_ id: String) throws {
        if id.begins(with: "_design/"), !mayDesign {
            throw Security.refusal(user, "You are not a db or server admin.")
        }
    }

    /// - Throws: 401, 403, 404 or 409 for a revision that may not be stored.
    func admit(_ revision: Revision, in batch: WriteTransaction) throws {
        try requireDesigner(revision.id)
        switch name.base {
        case "_users": try UsersDatabase.admit(revision, of: user, in: collection, batch, accounts)
        case ReplicatorManager.databaseName:
            // A replication reaches all databases of the server.
            if !revision.id.begins(with: "_design/") { try Security.requireServerAdmin(user) }
            try ReplicationRoutes.check(revision)
        default: break
        }
    }
}
