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
        let view = View<Int, FleeceValue>("values", version: "1", reduce: reduction) { note, emit in
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
        ("_sum", ["9223372036854775807", "1"], "9223372036854775808.0"),
        ("_sum", ["[1,2]", "[10]", "5"], "[16,2]"),
        ("_sum", [#"{"a":1,"b":{"c":2}}"#, #"{"b":{"c":3,"d":4}}"#], #"{"a":1,"b":{"c":5,"d":4}}"#),
        ("_stats", ["1", "3"], #"{"sum":4.0,"count":2,"min":1.0,"max":3.0,"sumsqr":10.0}"#),
        (
            "_stats", ["2", #"{"sum":4,"count":2,"min":1,"max":3,"sumsqr":10}"#],
            #"{"sum":6.0,"count":3,"min":1.0,"max":3.0,"sumsqr":14.0}"#
        ),
        ("_first", [#""a""#, #""b""#], #""a""#),
        ("_last", [#""a""#, #""b""#], #""b""#),
        ("_top_2", ["3", "9", "1", "7"], "[9,7]"),
        ("_bottom_3", ["3", "9", "1", "7"], "[1,3,7]"),
    ]

    @Test("Built-in reductions give what CouchDB's do", arguments: 0..<table.count) func builtIn(
        _ number: Int
    ) throws {
        let (name, values, result) = Self.table[number]
        let reduction = try #require(ViewReduction.builtIn(name))
        #expect(try reduced(reduction, values) == json(result), "\(name) \(values)")
    }

    @Test("Values that can't be reduced are an error that says so", arguments: ["_sum", "_stats"])
    func notReducible(_ name: String) throws {
        let reduction = try #require(ViewReduction.builtIn(name))
        let error = #expect(throws: ViewError.self) { try reduced(reduction, ["1", #""x""#]) }
        #expect(error?.code == .notReducible)
    }

    @Test("There are no others") func others() {
        for name in ["_top_0", "_top_101", "_top_", "_approx", "count", "_bottom_x"] {
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
}
