import Roost

/// A revision tree as simple as can be, with the rules spelled out slowly: what ``RevisionTree`` is
/// compared with.
struct RevisionModel: Equatable {
    /// Every revision, with its parent where that is known.
    var parents: [RevisionID: RevisionID?] = [:]
    var flags: [RevisionID: RevisionFlags] = [:]

    init() {}

    init(_ tree: RevisionTree) {
        for revision in tree {
            parents[revision.id] = .some(tree.parent(of: revision.id))
            flags[revision.id] = revision.flags
        }
    }

    mutating func insert(history: [RevisionID], flags newFlags: RevisionFlags) {
        for (index, id) in history.enumerated() {
            let parent = index + 1 < history.count ? history[index + 1] : nil
            parents[id] = .some(parent ?? (parents[id] ?? nil))
            flags[id, default: []].formUnion(index == 0 ? newFlags : [])
        }
    }

    var leaves: Set<RevisionID> {
        Set(parents.keys).subtracting(parents.values.compactMap { $0 })
    }

    /// Live before deleted, then the higher generation, then the higher digest by bytes.
    var winner: RevisionID? {
        leaves.max { left, right in
            let leftDeleted = flags[left]!.contains(.deleted)
            let rightDeleted = flags[right]!.contains(.deleted)
            if leftDeleted != rightDeleted { return leftDeleted }
            if left.generation != right.generation { return left.generation < right.generation }
            return left.digest.bytes.lexicographicallyPrecedes(right.digest.bytes)
        }
    }

    func path(of id: RevisionID) -> [RevisionID] {
        var path = [id]
        while let last = path.last, let parent = parents[last] ?? nil { path.append(parent) }
        return path
    }

    /// What remains when each leaf keeps its `limit` nearest revisions.
    func stemmed(to limit: Int) -> Self {
        kept(Set(leaves.flatMap { path(of: $0).prefix(limit) }))
    }

    /// What remains when the branches of `purged` leaves are gone.
    func purging(_ purged: Set<RevisionID>) -> Self {
        kept(Set(leaves.subtracting(purged).flatMap(path)))
    }

    private func kept(_ kept: Set<RevisionID>) -> Self {
        var result = Self()
        for id in kept {
            let parent = parents[id] ?? nil
            result.parents[id] = .some(parent.flatMap { kept.contains($0) ? $0 : nil })
            result.flags[id] = flags[id]
        }
        return result
    }
}

extension RevisionDigest {
    var bytes: [UInt8] { (0..<count).map { self[$0] } }
}
