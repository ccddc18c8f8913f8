import Fleece
import Roost
import RoostSync

/// What becomes of a room that was changed at two places at a time: it has the members of both, and the title of the revision
/// that wins everywhere.
enum RoomMerging {
    /// For the device of `person`. Only owners may change a room, so the others wait for what theirs make of it. All that merge
    /// come to the same revision.
    static func resolver(for person: String) -> ConflictResolver {
        ConflictResolver { leaves in
            let winner = leaves[0]
            guard winner["type"].string == "room" else { return .keep(winner.revision) }
            guard names("owners", in: [winner]).contains(person) else { return .keepAll }
            var merged = winner.mutableCopy()
            for key in ["owners", "members"] {
                merged[key] = .array(names(key, in: leaves).map { .string($0) })
            }
            return .merge(into: winner.revision, json: try merged.json())
        }
    }

    /// The names in any of the leaves, in one order for all.
    private static func names(_ key: String, in leaves: [Document]) -> [String] {
        Set(leaves.flatMap { $0[key].array?.compactMap(\.string) ?? [] }).sorted()
    }
}
