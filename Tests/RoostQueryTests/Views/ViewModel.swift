import Fleece
import Roost
import RoostOrder

@testable import RoostQuery

/// Rows of a view as mapping every document anew gives them, in plain arrays: what the engine is held against.
struct ViewModel {
    struct Row: Equatable {
        let key: FleeceValue
        let id: String
        let value: FleeceValue
    }

    var rows: [Row] = []
    let collation: Collation

    init(
        _ snapshot: CollectionSnapshot, _ collation: Collation,
        _ map: (Document) -> [(FleeceValue, FleeceValue)]
    ) throws {
        self.collation = collation
        for document in try snapshot.documents() {
            for (key, value) in map(document) { rows.append(Row(key: key, id: document.id, value: value)) }
        }
        // Sorting keeps the order of rows that compare equal.
        rows = rows.enumerated().sorted { a, b in
            let order = collation.compare(a.element.key, b.element.key)
            if order != 0 { return order < 0 }
            if a.element.id != b.element.id {
                return a.element.id.utf8.lexicographicallyPrecedes(b.element.id.utf8)
            }
            return a.offset < b.offset
        }.map(\.element)
    }

    /// The rows that a query asks for, before `skip` and `limit`.
    func selected(_ query: ViewQuery) -> [Row] {
        if let keys = query.keys {
            return (query.isDescending ? keys.reversed() : keys).flatMap { key in
                let found = rows.filter { query.includesEnd && collation.compare($0.key, key) == 0 }
                return query.isDescending ? found.reversed() : found
            }
        }
        let ordered = query.isDescending ? rows.reversed() : rows
        let sign = query.isDescending ? -1 : 1
        return ordered.filter { row in
            if let start = query.start {
                let order = sign * collation.compare(row.key, start)
                if order < 0 { return false }
                if order == 0, let id = query.startID, sign * compare(row.id, id) < 0 { return false }
            }
            guard let end = query.end else { return true }
            let order = sign * collation.compare(row.key, end)
            if order != 0 { return order < 0 }
            guard let id = query.endID else { return query.includesEnd }
            let order2 = sign * compare(row.id, id)
            return order2 < 0 || order2 == 0 && query.includesEnd
        }
    }

    private func compare(_ a: String, _ b: String) -> Int {
        a == b ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    }

    func rows(_ query: ViewQuery) -> [Row] {
        Array(selected(query).dropFirst(query.skip).prefix(query.limit))
    }

    /// Groups of rows with the sums and counts of their values.
    func groups(_ query: ViewQuery) -> [(key: FleeceValue?, rows: [Row])] {
        let selected = selected(query)
        var groups: [(key: FleeceValue?, rows: [Row])] = []
        for row in selected {
            let key: FleeceValue? =
                switch query.grouping {
                case .all, .level(0): nil
                case .exact: row.key
                case .level(let level): Self.cut(row.key, level)
                }
            if let last = groups.last,
                key == nil || collation.compare(last.key ?? .undefined, key ?? .undefined) == 0
            {
                groups[groups.count - 1].rows.append(row)
            } else {
                groups.append((key, [row]))
            }
        }
        return Array(groups.dropFirst(query.skip).prefix(query.limit))
    }

    private static func cut(_ key: FleeceValue, _ level: Int) -> FleeceValue {
        guard let elements = key.array, elements.count > level else { return key }
        var writer = FleeceWriter()
        writer.beginArray()
        for element in elements.prefix(level) { writer.write(element) }
        writer.endArray()
        return (try? FleeceDocument(trusting: writer.finish()).root) ?? .undefined
    }
}

/// The value of a JSON text.
func json(_ text: String) -> FleeceValue { (try? FleeceDocument(json: text).root) ?? .undefined }

/// Numbers that look random and are the same in every run (SplitMix64, Steele, Lea and Flood 2014).
struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
