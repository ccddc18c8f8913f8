import Roost
import RoostIndex

/// An index or view of a design document that is being built.
package struct ViewBuild: Hashable, Sendable {
    package let scope: String
    package let collection: String
    /// The ID of the design document; `nil` for an index of another kind.
    package let design: String?
    /// When that began, in microseconds since 1970.
    package let start: UInt64
    package let documentsTotal: UInt64
    package let documentsMapped: UInt64
}

extension Database {
    /// The indexes and views that are being built.
    package var viewBuilds: [ViewBuild] {
        IndexManager.of(self).builds.map { scope, collection, index, build in
            ViewBuild(
                scope: scope, collection: collection, design: Self.design(of: index), start: build.start,
                documentsTotal: build.total, documentsMapped: build.mapped)
        }
    }

    /// Of `view/_design/NAME/VIEW`, as of Mango's indexes, that in the middle.
    private static func design(of index: String) -> String? {
        let parts = index.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[1] == "_design" else { return nil }
        return parts[1..<(parts.count - 1)].joined(separator: "/")
    }
}
