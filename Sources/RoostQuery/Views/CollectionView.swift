import Fleece
import Roost
import RoostBytes
import RoostIndex

/// A view of one collection, for any thread.
///
/// Each call shows one moment of the collection, the present unless another one is given, and brings the view up to it
/// first. The first call builds the view, which takes time in proportion to the collection.
public struct CollectionView<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    /// The collection whose documents the view shows.
    public let collection: DocumentCollection
    let core: ViewCore

    /// Whether the view has a reduction.
    public var isReduced: Bool { core.reduction != nil }

    // MARK: Rows

    /// The rows with keys in a range, in the order of their keys.
    ///
    /// - Parameters:
    ///   - start: the first key; the greatest one if `isDescending`.
    ///   - end: the last key.
    ///   - includesEnd: whether the key `end` belongs to the range.
    ///   - isDescending: whether to go from the greatest key to the least.
    ///   - skip: how many rows to pass over. O(log n).
    ///   - limit: how many rows to read at most.
    ///   - includingDocuments: whether to read the rows' documents too.
    ///   - snapshot: another moment than the present.
    /// - Throws: ``ViewError``, `DatabaseError`; `DecodingError` for rows that are not of these types.
    public func rows(
        from start: Key? = nil, to end: Key? = nil, includingEnd includesEnd: Bool = true,
        isDescending: Bool = false, skip: Int = 0, limit: Int = .max, includingDocuments: Bool = false,
        at snapshot: CollectionSnapshot? = nil
    ) throws -> ViewRows<Key, Value> {
        var query = ViewQuery()
        query.start = try start.map(Self.value)
        query.end = try end.map(Self.value)
        query.includesEnd = includesEnd
        query.isDescending = isDescending
        query.skip = skip
        query.limit = limit
        query.includesDocuments = includingDocuments
        return try rows(query, at: snapshot)
    }

    /// The rows of one key, by the IDs of their documents.
    public func rows(
        of key: Key, includingDocuments: Bool = false, at snapshot: CollectionSnapshot? = nil
    ) throws -> ViewRows<Key, Value> {
        var query = ViewQuery()
        query.keys = [try Self.value(key)]
        query.includesDocuments = includingDocuments
        return try rows(query, at: snapshot)
    }

    /// The rows that `query` tells, whether the view has a reduction or not.
    public func rows(_ query: ViewQuery, at snapshot: CollectionSnapshot? = nil) throws -> ViewRows<
        Key, Value
    > {
        try rows(query, at: snapshot, after: nil) { _ in true }
    }

    /// As ``rows(_:at:)``, those of some documents.
    ///
    /// - Parameters:
    ///   - place: Where to go on, as of the same snapshot; the query's `skip` counts at the beginning only.
    ///   - includes: Decides which documents' rows are read. Rows of others count for the query's `skip` and `limit`, and nothing else of
    ///     them is read. It is called at least once for each key or range, with an empty ID where there is no row, so that the time does
    ///     not reveal a row that is omitted.
    package func rows(
        _ query: ViewQuery, at snapshot: CollectionSnapshot?, after place: RowPlace?,
        where includes: (_ id: String) throws -> Bool
    ) throws -> ViewRows<Key, Value> {
        var query = query
        query.reduces = false
        return try read(query, at: snapshot) { reader in
            var rows: [ViewRow<Key, Value>] = []
            var places: [RowPlace] = []
            var lastPlace: RowPlace?
            var passed = 0
            try reader.forEachRow(after: place) {
                _ = try includes("")
            } _: { row, place in
                passed += 1
                lastPlace = place
                let id = row.documentID.string
                guard try includes(id) else { return }
                places.append(place)
                let (key, value) = ViewPayload.decode(row.payload)
                let document = query.includesDocuments ? try reader.document(of: row, value) : nil
                rows.append(
                    ViewRow(
                        id: id,
                        key: try FleeceDecoder().decode(Key.self, from: key),
                        value: try FleeceDecoder().decode(Value.self, from: value),
                        document: document, conflicts: try reader.conflicts(of: document)))
            }
            return ViewRows(
                rows: rows, totalRows: query.isSorted ? try reader.index.count() : 0,
                offset: query.isSorted ? try reader.offset() : 0,
                updateSequence: reader.updateSequence, passed: passed, places: places, lastPlace: lastPlace)
        }
    }

    // MARK: Reductions

    /// What the view's reduction makes of all rows, or of those with keys in a range; `nil` where there are none.
    ///
    /// O(log n): the tree of the rows keeps results of its branches.
    ///
    /// - Throws: ``ViewError``, such as `notReducible`; `DecodingError` when the result is no `T`.
    public func reduced<T: Decodable>(
        from start: Key? = nil, to end: Key? = nil, as type: T.Type = T.self,
        at snapshot: CollectionSnapshot? = nil
    ) throws -> T? {
        var query = ViewQuery()
        query.start = try start.map(Self.value)
        query.end = try end.map(Self.value)
        return try groups(query, at: snapshot).first?.value(as: type)
    }

    /// The result for each key there is, or for what the first elements of array keys have in common.
    ///
    /// O(log n) for each group.
    public func groups(
        from start: Key? = nil, to end: Key? = nil, by grouping: ViewQuery.Grouping = .exact,
        at snapshot: CollectionSnapshot? = nil
    ) throws -> [ViewGroup] {
        var query = ViewQuery()
        query.start = try start.map(Self.value)
        query.end = try end.map(Self.value)
        query.grouping = grouping
        return try groups(query, at: snapshot)
    }

    /// The groups that `query` tells.
    public func groups(_ query: ViewQuery, at snapshot: CollectionSnapshot? = nil) throws -> [ViewGroup] {
        try groups(query, at: snapshot, from: nil, limit: .max).groups
    }

    /// As ``groups(_:at:)``, at most `limit` of them.
    ///
    /// - Parameters:
    ///   - place: where to go on, as of the same snapshot.
    ///   - includes: says of which documents the rows are reduced; of all if `nil`. With it each group costs O(n) for n rows. It is
    ///     asked once for each key or range at least.
    /// - Returns: the groups, where to go on, `nil` when these were the last, and the update sequence that they show.
    package func groups(
        _ query: ViewQuery, at snapshot: CollectionSnapshot?, from place: GroupPlace?, limit: Int,
        where includes: ((_ id: String) throws -> Bool)? = nil
    ) throws -> (groups: [ViewGroup], next: GroupPlace?, updateSequence: UInt64) {
        var query = query
        query.reduces = true
        return try read(query, at: snapshot) { reader in
            var groups: [ViewGroup] = []
            var asked = 0
            let rows = includes.map { includes in
                { (row: IndexRowView) in
                    asked += 1
                    return try includes(row.documentID.string)
                }
            }
            let next = try reader.forEachGroup(from: place, limit: limit, where: rows) { key, value in
                groups.append(
                    ViewGroup(
                        key: key.map { FleeceDocument(trusting: $0).root },
                        value: FleeceDocument(trusting: value).root))
            }
            for _ in asked..<max(asked, query.keys?.count ?? 1) { _ = try includes?("") }
            return (groups, next, reader.updateSequence)
        }
    }

    /// How many rows there are, in all or with keys in a range. O(log n).
    public func count(from start: Key? = nil, to end: Key? = nil, at snapshot: CollectionSnapshot? = nil)
        throws -> Int
    {
        var query = ViewQuery()
        query.start = try start.map(Self.value)
        query.end = try end.map(Self.value)
        query.reduces = false
        return try read(query, at: snapshot) { Int(clamping: try $0.index.count(in: $0.range())) }
    }

    // MARK: Upkeep

    /// Builds the view, or brings it up, now. Reading does that too.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; what was done so far stays, and is gone on with.
    public func update() throws {
        let indexes = try collection.indexes
        indexes.define(core.definition)
        try indexes.update(collection, building: .one(core.definition.name))
    }

    /// How many documents a build that is under way has looked at; `nil` while none is.
    public var progress: UInt64? { try? collection.indexes.builds[core.definition.name]?.mapped }

    /// Throws the view's rows away. They are rebuilt when the view is read again.
    public func drop() throws { try collection.indexes.drop(core.definition.name) }

    // MARK: Details

    private static func value(_ key: Key) throws -> FleeceValue {
        FleeceDocument(trusting: try ViewCore.body(of: key)).root
    }

    private func read<R>(
        _ query: ViewQuery, at snapshot: CollectionSnapshot?, _ body: (ViewReader) throws -> R
    ) throws -> R {
        try query.check(hasReduction: core.reduction != nil)
        let indexes = try collection.indexes
        let result = try indexes.read(
            core.definition, of: collection, at: snapshot, update: query.update == .now ? .now : .never
        ) { try body(ViewReader(core: core, index: $0, query: query)) }
        if query.update == .later { indexes.updateLater(collection, core.definition.name) }
        return result
    }
}

extension DocumentCollection {
    /// A view of this collection.
    public func view<Key, Value>(_ view: MapReduceView<Key, Value>) -> CollectionView<Key, Value> {
        CollectionView(collection: self, core: view.core)
    }
}

// MARK: - Updates

extension CollectionView where Key: Equatable, Value: Equatable {
    /// The rows that `query` tells, at once and whenever they change; the latest only, for a consumer that takes its time.
    ///
    /// Commits that leave these rows as they are give no news. It ends when its task is cancelled, and throws what reading
    /// throws, such as when the collection was dropped.
    public func updates(_ query: ViewQuery = ViewQuery()) -> AsyncThrowingStream<
        ViewRows<Key, Value>, any Error
    > {
        let view = self
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (changes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let observation = collection.database.observeEvents { event in
                if case .closed = event { waker.finish() } else { waker.yield() }
            }
            let task = Task {
                defer { observation.cancel() }
                do {
                    var last = try view.rows(query)
                    continuation.yield(last)
                    for await _ in changes {
                        let next = try view.rows(query)
                        if next.rows != last.rows { continuation.yield(next) }
                        last = next
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

// MARK: - View build

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
