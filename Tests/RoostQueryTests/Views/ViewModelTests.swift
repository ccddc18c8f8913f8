import Fleece
import Roost
import RoostDerivedCampaign
import RoostFile
import RoostIndex
import RoostOrder
import RoostSimulation
import Testing

@testable import RoostQuery

/// Views answer every combination of parameters as the model does, whatever was done to the documents.
@Suite struct ViewModelTests {
    /// Keys of every kind.
    private static let keys = [
        "null", "false", "true", "-3", "0", "1", "1.0", "2.5", #""a""#, #""A""#, #""é""#, #""b""#, "[]",
        "[1]", "[1,2]",
        "[1,2,3]", #"[1,"x"]"#, #"["a",{"b":1}]"#, "{}", #"{"a":1}"#, #"{"a":2}"#,
    ]

    private static func emitted(_ document: Document) -> [(FleeceValue, FleeceValue)] {
        (document["keys"].array ?? .empty).map { ($0, document["v"]) }
    }

    private func view(
        _ order: ViewOrder, _ reduction: ViewReduction, _ version: Int, name: String = "keys"
    ) -> MapReduceView<FleeceValue, FleeceValue> {
        MapReduceView("\(name)-\(order)", version: "\(version)", order: order, reduce: reduction) {
            document, emit in
            for (key, value) in Self.emitted(document.document) { emit(key, value) }
        }
    }

    private func query(_ random: inout Random, isReduced: Bool) -> ViewQuery {
        func key() -> FleeceValue { json(Self.keys.randomElement(using: &random) ?? "0") }
        var query = ViewQuery()
        query.isDescending = Bool.random(using: &random)
        query.includesEnd = Int.random(in: 0..<3, using: &random) > 0
        if Int.random(in: 0..<5, using: &random) == 0 {
            query.keys = (0..<(isReduced ? 1 : Int.random(in: 0..<4, using: &random))).map { _ in key() }
        } else {
            if Bool.random(using: &random) { query.start = key() }
            if Bool.random(using: &random) { query.end = key() }
            if query.start != nil, Bool.random(using: &random) {
                query.startID = "d\(Int.random(in: 0..<9, using: &random))"
            }
            if query.end != nil, Bool.random(using: &random) {
                query.endID = "d\(Int.random(in: 0..<9, using: &random))"
            }
        }
        if Bool.random(using: &random) { query.skip = Int.random(in: 0..<6, using: &random) }
        if Bool.random(using: &random) { query.limit = Int.random(in: 0..<8, using: &random) }
        if isReduced {
            query.grouping =
                [.all, .exact, .level(0), .level(1), .level(2)].randomElement(using: &random) ?? .all
        }
        return query
    }

    @Test("Rows, groups and sums are the model's", arguments: 0..<16)
    func model(seed: Int) throws {
        let simulation = Simulation(seed: UInt64(seed))
        var random = Random(state: UInt64(seed))
        let database = try Database.open("db", environment: simulation.environment)
        let notes = try database.collection("notes")
        let order: ViewOrder = seed % 2 == 0 ? .couchDB : .raw
        for round in 0..<12 {
            var settings = IndexSettings()
            settings.overlayLimit = Int.random(in: 0..<30, using: &random)
            IndexManager.of(database).configure(settings)
            try database.write { batch in
                for _ in 0..<8 {
                    let id = "d\(Int.random(in: 0..<12, using: &random))"
                    if Int.random(in: 0..<6, using: &random) == 0 {
                        try batch.delete(id, in: notes)
                        continue
                    }
                    let keys = (0..<Int.random(in: 0..<4, using: &random)).compactMap { _ in
                        Self.keys.randomElement(using: &random)
                    }
                    let value = Int.random(in: -5..<9, using: &random)
                    try batch.save(
                        json: #"{"v":\#(value),"keys":[\#(keys.joined(separator: ","))]}"#, id: id, in: notes)
                }
            }
            let snapshot = try notes.snapshot()
            let model = try ViewModel(snapshot, order.collation, Self.emitted)
            let view = notes.view(view(order, .sum, round / 5))
            for _ in 0..<25 { try check(view, model, query(&random, isReduced: false), snapshot) }
            for _ in 0..<25 {
                let query = query(&random, isReduced: true)
                try checkGroups(view, model, query, snapshot) { rows in
                    rows.reduce(0) { $0 + ($1.value.int ?? 0) }
                }
                let distinct = notes.view(
                    self.view(order, .distinctCount, round / 5, name: "distinct"))
                try checkGroups(distinct, model, query, snapshot) { rows in
                    zip(rows, rows.dropFirst()).reduce(1) {
                        $0 + (order.collation.compare($1.0.key, $1.1.key) == 0 ? 0 : 1)
                    }
                }
            }
        }
        try database.close()
    }

    private func check(
        _ view: CollectionView<FleeceValue, FleeceValue>, _ model: ViewModel, _ query: ViewQuery,
        _ snapshot: CollectionSnapshot
    ) throws {
        do {
            let found = try view.rows(query, at: snapshot)
            #expect(
                found.map { ViewModel.Row(key: $0.key, id: $0.id, value: $0.value) } == model.rows(query),
                "\(query)")
            #expect(found.totalRows == UInt64(model.rows.count))
            if let first = found.first, query.skip == 0 {
                let all = query.isDescending ? model.rows.reversed() : model.rows
                let row = ViewModel.Row(key: first.key, id: first.id, value: first.value)
                #expect(all[Int(found.offset)] == row, "\(query)")
            }
        } catch let error as ViewError {
            #expect(isReversed(query, model), "\(error)")
        }
    }

    private func checkGroups(
        _ view: CollectionView<FleeceValue, FleeceValue>, _ model: ViewModel, _ query: ViewQuery,
        _ snapshot: CollectionSnapshot, _ result: ([ViewModel.Row]) -> Int
    ) throws {
        do {
            let found = try view.groups(query, at: snapshot)
            let expected = model.groups(query)
            #expect(found.map { $0.value.int } == expected.map { result($0.rows) }, "\(query)")
            for (group, other) in zip(found, expected) {
                #expect(
                    model.collation.compare(group.key ?? .undefined, other.key ?? .undefined) == 0, "\(query)"
                )
            }
        } catch let error as ViewError {
            #expect(isReversed(query, model), "\(error)")
        }
    }

    /// Whether the range ends before it begins, the one thing that these queries may be refused for.
    private func isReversed(_ query: ViewQuery, _ model: ViewModel) -> Bool {
        guard let start = query.start, let end = query.end else { return false }
        return (query.isDescending ? -1 : 1) * model.collation.compare(start, end) > 0
    }
}

// MARK: - View model

/// Rows of a view as mapping every document again gives them, in plain arrays: what the engine is held against.
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

// MARK: - Derived campaign tests

/// Views and indexes on a disk that crashes and fails: a few of the seeds that `make simulate` runs for as long as one likes.
@Suite struct DerivedCampaignTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func viewsAndIndexesShowTheDocumentsWhateverFails(seed: UInt64) {
        let report = DerivedCampaign(seed: seed).run()
        #expect(report.finding == nil, "\(report.finding.map { "\($0)" } ?? "")")
        #expect(report.statistics.comparisons > 20)
    }

    /// Seeds that found something once.
    @Test(arguments: [1_000_014, 2_562_726_521_995_267] as [UInt64])
    func aSeedThatFoundSomethingFindsItNoMore(seed: UInt64) {
        #expect(DerivedCampaign(seed: seed).run().finding == nil)
    }

    #if ROOST_FAILPOINTS
        @Test(arguments: IndexFailpoint.allCases)
        func aFaultInTheUpkeepIsNoticed(failpoint: IndexFailpoint) {
            let isNoticed = IndexFailpoint.$active.withValue(failpoint) {
                (0..<60).contains { DerivedCampaign(seed: $0).run().finding != nil }
            }
            #expect(isNoticed)
        }
    #endif
}
