import Roost

extension RevisionID {
    /// The revision that a client names; `nil` where it names none.
    ///
    /// - Throws: 400.
    static func named(_ text: String?) throws -> RevisionID? {
        guard let text else { return nil }
        guard let revision = RevisionID(text) else { throw HTTPFailure.invalidRevision }
        return revision
    }

    /// The revisions that a client names.
    ///
    /// - Throws: 400.
    static func named(_ texts: [String]) throws -> [RevisionID] {
        var revisions: [RevisionID] = []
        for text in texts {
            guard let revision = RevisionID(text) else { throw HTTPFailure.invalidRevision }
            revisions.append(revision)
        }
        return revisions
    }
}
