import Fleece
import Roost
import RoostIndex

/// How the views of a design document stand: what CouchDB's `_info` tells.
package struct DesignInformation: Sendable {
    /// The sequence of the collection up to which all of them were kept; 0 where one was never built.
    package let sequence: UInt64
    /// How many documents have changed since.
    package let pending: UInt64
    /// Whether one is being built.
    package let isUpdating: Bool
    /// How many rows they have.
    package let rows: UInt64
    /// About how many bytes they take.
    package let bytes: UInt64
}

extension DocumentCollection {
    /// How the views of a design document stand.
    package func designInformation(_ design: String) throws -> DesignInformation {
        let snapshot = try snapshot()
        let names = try viewNames(of: design).map { ByteKey("view/\(design)/\($0)") }
        let indexes = try indexes
        let builds = indexes.builds
        let statuses = try indexes.statuses().filter { names.contains(ByteKey($0.name)) && $0.isComplete }
        let sequence = statuses.count < names.count ? 0 : statuses.map(\.sequence).min() ?? 0
        return DesignInformation(
            sequence: sequence, pending: UInt64(clamping: try snapshot.changeCount(since: sequence)),
            isUpdating: names.contains { builds[$0.text] != nil },
            rows: statuses.reduce(0) { $0 + $1.rows }, bytes: statuses.reduce(0) { $0 + $1.bytes })
    }
}

extension CollectionView {
    /// Whether the view emits anything for a document, deleted or a design document or not: CouchDB's filter `_view`.
    package func emits(for document: Document, at snapshot: CollectionSnapshot) throws -> Bool {
        try !core.mapAny(DocumentPage([document]), snapshot).isEmpty
    }
}
