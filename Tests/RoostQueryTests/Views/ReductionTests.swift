import Fleece
import Roost
import RoostFile
import RoostSimulation
import Testing

@testable import RoostQuery

/// CouchDB's built-in reductions.
@Suite struct ReductionTests {
    /// What a reduction makes of values, one document each, in the order of the list.
    private func reduced(_ reduction: ViewReduction, _ values: [String]) throws -> FleeceValue? {
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        try database.write { batch in
            for (number, value) in values.enumerated() {
                try batch.save(json: #"{"n":\#(number),"v":\#(value)}"#, id: "d\(number)", in: notes)
            }
        }
        let view = MapReduceView<Int, FleeceValue>("values", version: "1", reduce: reduction) { note, emit in
            emit(note["n"].int ?? 0, note["v"])
        }
        let query = ViewQuery()
        let result = try notes.view(view).groups(query).first?.value
        try database.close()
        return result
    }

    static let table: [(name: String, values: [String], result: String)] = [
        ("_count", ["1", "null", #""x""#], "3"),
        ("_sum", ["1", "2", "3"], "6"),
        ("_sum", ["1", "2.5"], "3.5"),
        ("_sum", ["{\"\u{E9}\":1,\"e\u{301}\":2}", "{\"\u{E9}\":3}"], "{\"e\u{301}\":2,\"\u{E9}\":4}"),
        ("_sum", ["9223372036854775807", "1"], "9223372036854775808.0"),
        ("_sum", ["[1,2]", "[10]", "5"], "[16,2]"),
        ("_sum", [#"{"a":1,"b":{"c":2}}"#, #"{"b":{"c":3,"d":4}}"#], #"{"a":1,"b":{"c":5,"d":4}}"#),
        ("_stats", ["1", "3"], #"{"sum":4,"count":2,"min":1,"max":3,"sumsqr":10}"#),
        ("_stats", ["1", "0.5"], #"{"sum":1.5,"count":2,"min":0.5,"max":1,"sumsqr":1.25}"#),
        (
            "_stats", ["2", #"{"sum":4,"count":2,"min":1,"max":3,"sumsqr":10,"more":"x"}"#],
            #"{"sum":6,"count":3,"min":1,"max":3,"sumsqr":14}"#
        ),
        (
            "_stats", ["[1,5]", #"[{"sum":4,"count":2,"min":1,"max":3,"sumsqr":10},-5]"#],
            #"[{"sum":5,"count":3,"min":1,"max":3,"sumsqr":11},{"sum":0,"count":2,"min":-5,"max":5,"sumsqr":50}]"#
        ),
        ("_sum", ["2", "[3,5,7]", "[0,0,0,42]", "1", "3"], "[9,5,7,42]"),
        ("_approx_count_distinct", ["1", "1", "null"], "3"),
        ("_first", [#""a""#, #""b""#], #""a""#),
        ("_last", [#""a""#, #""b""#], #""b""#),
        ("_top_2", ["3", "9", "1", "7"], "[9,7]"),
        ("_bottom_3", ["3", "9", "1", "7"], "[1,3,7]"),
        // Equal values count once.
        ("_top_3", ["500", "499", "500", "498", "499.0", "498"], "[500,499,498]"),
        ("_bottom_2", [#""a""#, "null", #""a""#, "null", #""b""#], #"[null,"a"]"#),
    ]

    @Test("Built-in reductions give what CouchDB's do", arguments: 0..<table.count) func builtIn(
        _ number: Int
    ) throws {
        let (name, values, result) = Self.table[number]
        let reduction = try #require(ViewReduction.builtIn(name))
        #expect(try reduced(reduction, values) == json(result), "\(name) \(values)")
    }

    static let wrong: [(name: String, values: [String])] = [
        ("_sum", ["1", #""x""#]), ("_sum", ["1", #"{"a":1}"#]), ("_stats", ["1", #""x""#]),
        ("_stats", ["[1]", "1"]), ("_stats", ["[1]", "[1,2]"]), ("_stats", [#"{"sum":1}"#]),
    ]

    @Test("Values that can't be reduced are an error that says so", arguments: 0..<wrong.count)
    func notReducible(_ number: Int) throws {
        let (name, values) = Self.wrong[number]
        let reduction = try #require(ViewReduction.builtIn(name))
        let error = #expect(throws: ViewError.self) { try reduced(reduction, values) }
        #expect(error?.code == .notReducible, "\(name) \(values)")
    }

    @Test("Different keys are counted exactly, over any range, without reading the rows") func distinct()
        throws
    {
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        try database.write { batch in
            for number in 0..<2_000 {
                try batch.save(json: #"{"n":\#(number / 3 % 400)}"#, id: "d\(number)", in: notes)
            }
        }
        let view = notes.view(
            MapReduceView<Int, Int>("distinct", version: "1", reduce: .distinctCount) { note, emit in
                emit(note["n"].int ?? 0, 0)
            })
        #expect(try view.reduced(as: Int.self) == 400)
        #expect(try view.reduced(from: 17, to: 116, as: Int.self) == 100)
        #expect(try view.groups().map { $0.value.int } == Array(repeating: 1, count: 400))
        try database.close()
    }

    @Test("There are no others") func others() {
        for name in ["_top_0", "_top_101", "_top_", "_approx_count", "count", "_bottom_x"] {
            #expect(ViewReduction.builtIn(name) == nil)
        }
    }

    @Test("A reduction of one's own sees keys and rereduces") func custom() throws {
        let longest = ViewReduction.custom("longest", version: "1") { rows in
            rows.map { "\($0.value)".count }.max() ?? 0
        } rereduce: { (values: [Int]) in
            values.max() ?? 0
        }
        let values = (0..<500).map { "\($0 * 7919)" }
        #expect(try reduced(longest, values)?.int == values.map(\.count).max())
    }

    @Test("Reductions of one name belong to the view that has them") func reductionsOfOneName() throws {
        func number(_ value: Int) -> ViewReduction {
            .custom("number", version: "1") { _ in
                value
            } rereduce: { (_: [Int]) in
                value
            }
        }
        let database = try Database.open("db", environment: Simulation(seed: 1).environment)
        let notes = try database.collection("notes")
        try database.write { batch in
            for place in 0..<500 { _ = try batch.save(json: "{}", id: "\(place)", in: notes) }
        }
        let views = (0..<3).map { place in
            notes.view(
                MapReduceView<String, Int>("v\(place)", version: "1", reduce: number(place)) { note, emit in
                    emit(note.id, 1)
                })
        }
        for _ in 0..<2 {
            for (place, view) in views.enumerated() { #expect(try view.reduced(as: Int.self) == place) }
        }
        // The number that a dropped index had is given again.
        try views[2].drop()
        let last = notes.view(
            MapReduceView<String, Int>("other", version: "1", reduce: number(7)) { note, emit in
                emit(note.id, 1)
            })
        #expect(try last.reduced(as: Int.self) == 7)
        try database.close()
    }
}
