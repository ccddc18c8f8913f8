import Roost

/// What a transfer has not carried: each revision once, until its document changes or it is carried after all.
struct FailureList: Sendable {
    private var byDocument: NamedValues<[ReplicationProblem]> = [:]
    /// How many more there were than are kept.
    private var others = 0
    private var listed = 0

    /// How many there are.
    var count: Int { listed + others }

    /// All that are kept, by document.
    var all: [ReplicationProblem] { byDocument.values.flatMap(\.self) }

    /// What the next run is to try again; `nil` where there are more than that.
    var remembered: [Checkpoint.Failure]? {
        guard others == 0 else { return nil }
        return all.map { Checkpoint.Failure(document: $0.document, revision: $0.revisionText) }
    }

    mutating func add(_ problems: [ReplicationProblem]) {
        for problem in problems {
            guard listed < ReplicationStatus.longestList else {
                others += 1
                continue
            }
            byDocument[problem.document] = (byDocument[problem.document] ?? []) + [problem]
            listed += 1
        }
    }

    /// The document is looked at again: what failed of it before counts no longer.
    mutating func forget(_ document: String) {
        listed -= byDocument.removeValue(forKey: document)?.count ?? 0
    }
}
