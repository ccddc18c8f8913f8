import Roost

/// A revision tree as simple as can be, with the rules spelled out slowly: what ``RevisionTree`` is
/// compared with.
struct RevisionModel: Equatable {
    /// Every revision, with its parents as far as they are known.
    var parents: [RevisionID: Set<RevisionID>] = [:]
    var flags: [RevisionID: RevisionFlags] = [:]

    init() {}

    init(_ tree: RevisionTree) {
        for revision in tree {
            parents[revision.id] = Set(tree.parents(of: revision.id))
            flags[revision.id] = revision.flags
        }
    }

    mutating func insert(history: [RevisionID], flags newFlags: RevisionFlags) {
        for (index, id) in history.enumerated() {
            parents[id, default: []].formUnion(history[(index + 1)...].prefix(1))
            flags[id, default: []].formUnion(index == 0 ? newFlags : [])
        }
    }

    var leaves: Set<RevisionID> {
        Set(parents.keys).subtracting(parents.values.joined())
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

    /// The revision and its ancestors, through the highest parent of each.
    func path(of id: RevisionID) -> [RevisionID] {
        var path = [id]
        while let last = path.last, let parent = parents[last]?.max() { path.append(parent) }
        return path
    }

    /// The revision and all its ancestors, at most `limit` generations of them.
    func ancestry(of id: RevisionID, limit: Int = .max) -> Set<RevisionID> {
        var (found, newest) = (Set<RevisionID>(), Set([id]))
        var generations = 0
        while !newest.isEmpty, generations < limit {
            found.formUnion(newest)
            newest = Set(newest.flatMap { parents[$0] ?? [] })
            generations += 1
        }
        return found
    }

    /// What remains when each leaf keeps its `limit` nearest generations.
    func stemmed(to limit: Int) -> Self {
        kept(Set(leaves.flatMap { ancestry(of: $0, limit: limit) }))
    }

    /// What remains when the branches of `purged` leaves are gone.
    func purging(_ purged: Set<RevisionID>) -> Self {
        kept(Set(leaves.subtracting(purged).flatMap { ancestry(of: $0) }))
    }

    private func kept(_ kept: Set<RevisionID>) -> Self {
        var result = Self()
        for id in kept {
            result.parents[id] = parents[id]?.intersection(kept)
            result.flags[id] = flags[id]
        }
        return result
    }
}

extension RevisionDigest {
    var bytes: [UInt8] { (0..<count).map { self[$0] } }
}
