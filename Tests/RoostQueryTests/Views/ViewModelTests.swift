import Fleece
import Roost
import RoostFile
import RoostIndex
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
