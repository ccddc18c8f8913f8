import Roost

extension RevisionID {
    /// The revision that a client names; `nil` for one that CouchDB takes for a revision and that is none here, such as `1-`.
    ///
    /// - Throws: 400 for what CouchDB takes for none either.
    static func possible(_ text: String) throws -> RevisionID? {
        if let revision = RevisionID(text) { return revision }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty,
            parts[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw HTTPFailure.invalidRevision }
        return nil
    }

    /// The revision that a client names as the one that it edits; `nil` where it names none.
    ///
    /// - Throws: 400 for what is no revision, 409 for what can be none here.
    static func base(_ text: String?) throws -> RevisionID? {
        guard let text else { return nil }
        guard let revision = try possible(text) else { throw HTTPFailure.conflict }
        return revision
    }

    /// The revisions that a client names, without those that are none here.
    ///
    /// - Throws: 400.
    static func named(_ texts: [String]) throws -> [RevisionID] {
        var revisions: [RevisionID] = []
        for text in texts {
            if let revision = try possible(text) { revisions.append(revision) }
        }
        return revisions
    }
}
