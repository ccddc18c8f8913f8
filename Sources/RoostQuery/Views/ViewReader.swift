import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import RoostStorage

/// Reads a view as of one moment.
struct ViewReader {
    let core: ViewCore
    let index: IndexReader
    let query: ViewQuery

    /// The collection's update sequence that the rows show.
    var updateSequence: UInt64 {
        query.update == .now ? index.collection.lastSequence : index.sequence
    }

    // MARK: Ranges

    /// The component of a key.
    private func component(_ key: FleeceValue) throws -> [UInt8] {
        let encoder = KeyEncoder(core.collation)
        try encoder.append(key.exists ? key : FleeceDocument(trusting: ViewCore.body(of: .undefined)).root)
        return RowKey.component(encoder.view)
    }

    /// Where rows at and after a bound begin: of the key, or of the document in it; or those after it.
    ///
    /// IDs of documents have no control characters, so 01 comes after all rows of a document.
    private func bound(_ key: FleeceValue, _ id: String?, after: Bool) throws -> Key? {
        let component = try component(key)
        guard let id else { return after ? KeyRange(prefix: Key(component)).upper : Key(component) }
        return Key(component + Array(id.utf8) + (after ? [1] : []))
    }

    /// The range of rows that is requested.
    func range() throws -> KeyRange {
        let (low, high) = query.isDescending ? (query.end, query.start) : (query.start, query.end)
        if let low, let high, core.collation.compare(low, high) > 0 {
            throw ViewError(
                .invalidParameters,
                "No rows can match: the range ends before it begins. Swap startkey and endkey, or set descending."
            )
        }
        let (includesLow, includesHigh) = includedEnds
        return KeyRange(
            lower: try low.flatMap { try bound($0, documents.low, after: !includesLow) },
            upper: try high.flatMap { try bound($0, documents.high, after: includesHigh) })
    }

    /// The documents that bound the range in its keys, or in each of several.
    private var documents: (low: String?, high: String?) {
        query.isDescending ? (query.endID, query.startID) : (query.startID, query.endID)
    }

    /// How many ranges are requested: each of several keys is one.
    var rangeCount: Int { query.keys?.count ?? 1 }

    /// One of the ranges that are requested, by its place in their order. Of several keys, rows come backwards where the query descends,
    /// and groups in the order of the keys either way, as in CouchDB.
    func range(_ number: Int, ofGroups: Bool = false) throws -> KeyRange {
        guard let keys = query.keys else { return try range() }
        let key = keys[query.isDescending && !ofGroups ? keys.count - 1 - number : number]
        let (low, high) = documents
        let (includesLow, includesHigh) = includedEnds
        return KeyRange(
            lower: try bound(key, low, after: !includesLow), upper: try bound(key, high, after: includesHigh))
    }

    /// Whether rows at the lower and at the upper end of a range belong to it.
    private var includedEnds: (low: Bool, high: Bool) {
        (!query.isDescending || query.includesEnd, query.isDescending || query.includesEnd)
    }

    // MARK: Rows

    /// How many rows come before the first that is requested, in the order that is requested; of several ranges, before those
    /// of the first that has any.
    func offset() throws -> UInt64 {
        guard rangeCount > 0 else { return 0 }
        var range = try self.range(0)
        for number in 0..<rangeCount {
            let next = try self.range(number)
            guard try index.count(in: next) > 0 else { continue }
            range = next
            break
        }
        let before =
            query.isDescending
            ? range.upper.map { KeyRange(lower: $0) } : range.lower.map { KeyRange(upper: $0) }
        let count = try before.map { try index.count(in: $0) } ?? 0
        let (sum, overflow) = count.addingReportingOverflow(UInt64(query.skip))
        return try overflow ? index.count() : min(sum, index.count())
    }

    /// Calls `body` with the rows that are requested and their places.
    ///
    /// - Parameters:
    ///   - place: where to go on; the query's `skip` counts at the beginning only.
    ///   - none: called for each range that has no row.
    func forEachRow(
        after place: RowPlace?, none: () throws -> Void, _ body: (IndexRowView, RowPlace) throws -> Void
    ) throws {
        var skipped = place == nil ? UInt64(query.skip) : 0
        var left = query.limit
        for number in (place?.range ?? 0)..<max(place?.range ?? 0, rangeCount) where left > 0 {
            let isBegun = number == place?.range
            let range = try isBegun ? rest(after: place) : self.range(number)
            let count = skipped > 0 ? try index.count(in: range) : 0
            if skipped > 0, count > 0, count <= skipped {
                skipped -= count
                continue
            }
            let cursor = index.cursor(range, isDescending: query.isDescending)
            if count > 0 {
                try cursor.skip(skipped)
                skipped = 0
            }
            var hasRows = isBegun
            while left > 0, try cursor.next() {
                try Task.checkCancellation()
                hasRows = true
                try body(cursor.row, RowPlace(range: number, key: cursor.row.key.array))
                left -= 1
            }
            if !hasRows { try none() }
        }
    }

    /// What is left of a range.
    private func rest(after place: RowPlace?) throws -> KeyRange {
        guard let place else { return try self.range() }
        let range = try self.range(place.range)
        return query.isDescending
            ? KeyRange(lower: range.lower, upper: Key(place.key))
            : KeyRange(lower: Key(place.key + [0]), upper: range.upper)
    }

    /// The document that goes with a row: the one that the value names, or the row's own; of the revision that the value names,
    /// where it does.
    func document(of row: IndexRowView, _ value: FleeceValue) throws -> Document? {
        let id = value["_id"].string ?? row.documentID.string
        guard let text = value["_rev"].string else { return try index.collection.document(id) }
        // What is no revision leads to no document, like one that is not there.
        guard let revision = try? RevisionID(validating: text) else { return nil }
        return try index.collection.document(id, revision: revision)
    }

    /// The live leaves of a document besides the winner, if conflicts were requested.
    func conflicts(of document: Document?) throws -> [RevisionID] {
        guard query.includesConflicts, let document, document.isConflicted else { return [] }
        return try index.collection.conflicts(of: document.id).map(\.revision)
    }

    // MARK: Reducing

    /// Calls `body` with the key, `nil` for all rows together, and the result of each group, as Fleece bodies.
    ///
    /// - Parameters:
    ///   - place: where to go on; the query's `skip` counts at the beginning only.
    ///   - limit: how many groups at most, besides the query's own limit.
    ///   - includes: says which rows there are; the others make no groups and no part of results. All of them if `nil`, and then
    ///     a group is O(log n).
    /// - Returns: where to go on; `nil` when these were all.
    @discardableResult
    func forEachGroup(
        from place: GroupPlace? = nil, limit: Int = .max,
        where includes: ((IndexRowView) throws -> Bool)? = nil,
        _ body: (_ key: [UInt8]?, _ value: [UInt8]) throws -> Void
    ) throws -> GroupPlace? {
        guard let reduction = core.reduction else { return nil }
        var skipped = place == nil ? query.skip : 0
        var left = place?.left ?? query.limit
        var count = 0
        for number in (place?.range ?? 0)..<max(place?.range ?? 0, rangeCount) {
            let range = try self.range(number, ofGroups: true)
            var rest = number == place?.range ? place?.rest ?? range : range
            if includes == nil, isGroupedForwards {
                guard left > 0 else { break }
                let upper = rest.upper
                var key: [UInt8] = []
                var end = rest.lower ?? []
                do {
                    try index.forEachGroup(in: rest) { row in
                        try Task.checkCancellation()
                        let group = try group(of: row)
                        key = group.key
                        end = min(KeyRange(prefix: Key(group.prefix)).upper ?? [0xFF], upper ?? [0xFF])
                        return end
                    } _: { value in
                        rest = KeyRange(lower: end, upper: upper)
                        if skipped > 0 {
                            skipped -= 1
                            return true
                        }
                        try body(key, reduction.result(value))
                        left -= 1
                        count += 1
                        return left > 0 && count < limit
                    }
                    guard count < limit else { return GroupPlace(range: number, rest: rest, left: left) }
                    continue
                } catch let error as ViewError where core.tells(error) {
                    // The groups from that one on are reduced one by one.
                }
            }
            while left > 0, let group = try nextGroup(in: rest, where: includes) {
                try Task.checkCancellation()
                rest =
                    query.isDescending
                    ? KeyRange(lower: rest.lower, upper: max(rest.lower ?? [], group.range.lower ?? []))
                    : KeyRange(lower: group.range.upper ?? [0xFF], upper: rest.upper)
                if skipped > 0 {
                    skipped -= 1
                } else if let value = try result(of: group.range, reduction, where: includes) {
                    try body(group.key, value)
                    left -= 1
                    count += 1
                }
                if group.key == nil { break }
                if count == limit { return GroupPlace(range: number, rest: rest, left: left) }
            }
        }
        return nil
    }

    /// The result of a group; an object that tells the error in place of one that can't be made, as in CouchDB.
    private func result(
        of range: KeyRange, _ reduction: ViewReduction, where includes: ((IndexRowView) throws -> Bool)?
    ) throws -> [UInt8]? {
        do {
            return try reduced(range, where: includes).map(reduction.result)
        } catch let error as ViewError where core.tells(error) {
            var writer = FleeceWriter()
            writer.beginDictionary()
            for (name, text) in [("error", "builtin_reduce_error"), ("reason", error.message)] {
                writer.key(name)
                writer.write(text)
            }
            writer.endDictionary()
            return try writer.finish()
        }
    }

    private func reduced(_ range: KeyRange, where includes: ((IndexRowView) throws -> Bool)?) throws
        -> [UInt8]?
    {
        guard let includes else { return try index.reduce(in: range) }
        return try index.reduce(in: range, where: includes)
    }

    /// Whether there are groups, from the least key on.
    private var isGroupedForwards: Bool {
        switch query.grouping {
        case .all, .level(0): false
        case .exact, .level: !query.isDescending
        }
    }

    /// The group that comes next.
    private func nextGroup(
        in range: KeyRange, where includes: ((IndexRowView) throws -> Bool)?
    ) throws -> (key: [UInt8]?, range: KeyRange)? {
        if let lower = range.lower, let upper = range.upper, upper <= lower { return nil }
        switch query.grouping {
        case .all, .level(0):
            return try index.count(in: range) > 0 ? (nil, range) : nil
        case .exact, .level:
            let cursor = index.cursor(range, isDescending: query.isDescending)
            defer { extendLifetime(cursor) }
            repeat {
                try Task.checkCancellation()
                guard try cursor.next() else { return nil }
            } while try includes?(cursor.row) == false
            let (prefix, key) = try group(of: cursor.row)
            let all = KeyRange(prefix: Key(prefix))
            let upper = [range.upper, all.upper].compactMap(\.self).min()
            return (key, KeyRange(lower: max(range.lower ?? [], all.lower ?? []), upper: upper))
        }
    }

    /// What the keys of a row's group begin with, and the group's key.
    private func group(of row: IndexRowView) throws -> (prefix: [UInt8], key: [UInt8]) {
        let component = row.component.array
        let key = ViewPayload.decode(row.payload).key
        guard case .level(let level) = query.grouping, let elements = key.array, elements.count >= level,
            let length = length(ofElements: level, in: component)
        else { return (component, try ViewCore.body(of: key)) }
        var writer = FleeceWriter()
        writer.beginArray()
        for element in elements.prefix(level) { writer.write(element) }
        writer.endArray()
        return (Array(component.prefix(length)), try writer.finish())
    }

    /// How many bytes of an array's key its tag and its first elements take; `nil` for a key that was cut.
    private func length(ofElements count: Int, in component: [UInt8]) -> Int? {
        component.withView { view in
            var reader = KeyReader(view, core.collation)
            do {
                try reader.enter()
                for _ in 0..<count { try reader.skip() }
                return reader.position
            } catch {
                return nil
            }
        }
    }
}

// MARK: - Group place

/// Where the groups of a view go on that are read a part at a time.
package struct GroupPlace: Sendable {
    /// The number of the range among those that the query asks for.
    let range: Int
    /// What is left of it.
    let rest: KeyRange
    /// How many groups the query's limit still allows.
    let left: Int
}
