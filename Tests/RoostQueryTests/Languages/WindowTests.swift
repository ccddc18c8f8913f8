import Roost
import RoostQuery
import Testing

/// Window functions, whose values are worked out by hand as DuckDB's documentation tells them; null and missing values come first, as
/// everywhere here.
@Suite struct WindowTests {
    private let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture()
        try fixture.fill(
            "s",
            [
                #"{"_id":"a","g":"x","n":1,"v":10}"#, #"{"_id":"b","g":"x","n":2,"v":20}"#,
                #"{"_id":"c","g":"x","n":2,"v":30}"#, #"{"_id":"d","g":"x","n":3,"v":40}"#,
                #"{"_id":"e","g":"y","n":1,"v":5}"#, #"{"_id":"f","g":"y","n":null,"v":7}"#,
                #"{"_id":"g","g":"y","v":9}"#,
            ])
    }

    /// The values of an expression in the order of the documents' IDs, of those in one group.
    private func values(_ expression: String, of group: String = "x") throws -> String {
        try fixture.rows("SELECT \(expression) FROM s WHERE g = '\(group)' ORDER BY META().id").joined(
            separator: " ")
    }

    @Test(arguments: [
        // The place of a row.
        ("row_number() OVER (ORDER BY v DESC)", "4 3 2 1"),
        ("row_number() OVER ()", "1 2 3 4"),
        ("rank() OVER (ORDER BY n)", "1 2 2 4"),
        ("dense_rank() OVER (ORDER BY n)", "1 2 2 3"),
        ("rank() OVER (ORDER BY n DESC)", "4 2 2 1"),
        ("rank() OVER ()", "1 1 1 1"),
        ("CAST(percent_rank() OVER (ORDER BY n) * 300 AS INTEGER)", "0 100 100 300"),
        ("CAST(cume_dist() OVER (ORDER BY n) * 100 AS INTEGER)", "25 75 75 100"),
        ("ntile(3) OVER (ORDER BY v)", "1 1 2 3"), ("ntile(9) OVER (ORDER BY v)", "1 2 3 4"),
        // Neighbours.
        ("lag(v) OVER (ORDER BY v)", "null 10 20 30"), ("lead(v) OVER (ORDER BY v)", "20 30 40 null"),
        ("lead(v, 2, -1) OVER (ORDER BY v)", "30 40 -1 -1"), ("lag(v, 0) OVER (ORDER BY v)", "10 20 30 40"),
        ("lag(v, -1) OVER (ORDER BY v)", "20 30 40 null"), ("lag(v, 5, n) OVER (ORDER BY v)", "1 2 2 3"),
        // Without a frame it goes from the first row to the last peer.
        ("sum(v) OVER (ORDER BY n)", "10 60 60 100"), ("sum(v) OVER (ORDER BY n DESC)", "100 90 90 40"),
        ("sum(v) OVER ()", "100 100 100 100"), ("count(*) OVER (PARTITION BY n)", "1 2 2 1"),
        ("last_value(v) OVER (ORDER BY n)", "10 30 30 40"),
        ("first_value(v) OVER (ORDER BY n DESC)", "40 40 40 40"),
        (
            "last_value(v) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
            "40 40 40 40"
        ),
        ("nth_value(v, 2) OVER (ORDER BY v ROWS UNBOUNDED PRECEDING)", "null 20 20 20"),
        ("nth_value(v, 2) OVER (ORDER BY v ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)", "20 30 40 null"),
        // Rows.
        ("sum(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", "30 60 90 70"),
        ("sum(v) OVER (ORDER BY v ROWS 1 PRECEDING)", "10 30 50 70"),
        ("sum(v) OVER (ORDER BY n, v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", "10 30 60 100"),
        ("sum(v) OVER (ORDER BY v ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)", "100 90 70 40"),
        ("min(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "10 10 20 30"),
        ("max(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "10 20 30 40"),
        ("sum(v) OVER (ORDER BY v ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)", "null null 10 30"),
        ("count(*) OVER (ORDER BY v ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING)", "2 1 0 0"),
        (
            "array_agg(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "[10] [10,20] [20,30] [30,40]"
        ),
        ("group_concat(n) OVER (ORDER BY v)", #""1" "1,2" "1,2,2" "1,2,2,3""#),
        // Values.
        ("count(*) OVER (ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "1 3 3 3"),
        ("sum(v) OVER (ORDER BY n RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING)", "90 40 40 null"),
        ("sum(v) OVER (ORDER BY n DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "60 90 90 40"),
        ("sum(v) OVER (ORDER BY n RANGE BETWEEN CURRENT ROW AND CURRENT ROW)", "10 50 50 40"),
        ("sum(v) OVER (ORDER BY n RANGE BETWEEN 0.5 PRECEDING AND 0.5 FOLLOWING)", "10 50 50 40"),
        // Aggregates of all kinds.
        ("median(v) OVER (PARTITION BY g)", "25.0 25.0 25.0 25.0"), ("count(DISTINCT n) OVER ()", "3 3 3 3"),
        ("count(*) FILTER (WHERE v > 15) OVER (ORDER BY v)", "0 1 2 3"),
        ("max(g || CAST(n AS TEXT)) OVER (ORDER BY v)", #""x1" "x2" "x2" "x3""#),
        // Within other expressions.
        ("v - lag(v, 1, v) OVER (ORDER BY v)", "0 10 10 10"),
        ("CASE WHEN row_number() OVER (ORDER BY v) = 1 THEN 'first' ELSE g END", #""first" "x" "x" "x""#),
        ("sum(v) OVER (ORDER BY v) + row_number() OVER (ORDER BY v DESC)", "14 33 62 101"),
        ("lag(g) OVER (ORDER BY v) || '!'", #"null "x!" "x!" "x!""#),
        ("count(*) OVER (PARTITION BY (SELECT count(*) FROM s AS t WHERE t.n = s.n))", "3 3 3 1"),
    ])
    func functions(_ expression: String, _ expected: String) throws {
        #expect(try values(expression) == expected)
    }

    /// What has no number to be compared with has its peers in its frame.
    @Test(arguments: [
        ("row_number() OVER (ORDER BY n)", "3 2 1"), ("row_number() OVER (ORDER BY n DESC)", "1 2 3"),
        ("row_number() OVER (ORDER BY n NULLS LAST)", "1 3 2"),
        ("row_number() OVER (ORDER BY n DESC NULLS FIRST)", "3 1 2"),
        ("count(*) OVER (ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "1 1 1"),
        ("count(*) OVER (ORDER BY n NULLS LAST RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)", "1 1 1"),
        ("count(n) OVER ()", "1 1 1"), ("sum(n) OVER (ORDER BY v)", "1 1 1"),
        ("lag(n, 1, 'none') OVER (ORDER BY v)", #""none" 1 null"#),
    ])
    func nullAndMissing(_ expression: String, _ expected: String) throws {
        #expect(try values(expression, of: "y") == expected)
    }

    @Test(arguments: [
        (
            "SELECT META().id, row_number() OVER (PARTITION BY g ORDER BY v DESC) FROM s WHERE v > 7 ORDER BY META().id",
            [#"["a",4]"#, #"["b",3]"#, #"["c",2]"#, #"["d",1]"#, #"["g",1]"#]
        ),
        ("SELECT row_number() OVER () FROM s WHERE g = 'z'", []),
        // Groups are the rows of windows.
        (
            "SELECT g, sum(v) AS total, rank() OVER (ORDER BY sum(v) DESC), sum(sum(v)) OVER (ORDER BY g) FROM s GROUP BY g ORDER BY g",
            [#"["x",100,1,100]"#, #"["y",21,2,121]"#]
        ),
        (
            "SELECT g, count(*) OVER () AS c FROM s GROUP BY g HAVING count(*) > 3", [#"["x",1]"#]
        ),
        ("SELECT count(*), row_number() OVER () FROM s", ["[7,1]"]),
        // In ORDER BY, and by the name of a column.
        (
            "SELECT META().id FROM s WHERE g = 'x' ORDER BY row_number() OVER (ORDER BY n DESC, v)",
            [#""d""#, #""b""#, #""c""#, #""a""#]
        ),
        (
            "SELECT META().id, row_number() OVER (ORDER BY v) AS r FROM s ORDER BY r DESC LIMIT 2 OFFSET 1",
            [#"["c",6]"#, #"["b",5]"#]
        ),
        ("SELECT DISTINCT g, count(*) OVER (PARTITION BY g) FROM s ORDER BY g", [#"["x",4]"#, #"["y",3]"#]),
        // The best of each group.
        (
            """
            SELECT t.id FROM (SELECT META().id AS id, row_number() OVER (PARTITION BY g ORDER BY v DESC) AS r FROM s) AS t
            WHERE t.r = 1 ORDER BY t.id
            """, [#""d""#, #""g""#]
        ),
        // Windows with names, and what continues them.
        (
            """
            SELECT rank() OVER w, sum(v) OVER (w ROWS UNBOUNDED PRECEDING), count(*) OVER p FROM s WHERE g = 'x'
            WINDOW p AS (PARTITION BY g), w AS (p ORDER BY n, v) ORDER BY v
            """, ["[1,10,4]", "[2,30,4]", "[3,60,4]", "[4,100,4]"]
        ),
        (
            "SELECT lag(v, $k, $none) OVER (ORDER BY v) FROM s WHERE g = 'x' ORDER BY v LIMIT 3",
            ["0", "0", "10"]
        ),
        // Two joined sources, and the elements of an array.
        (
            "SELECT row_number() OVER (ORDER BY t.v DESC) AS r FROM s JOIN s AS t ON s.n = t.n WHERE s.g = 'y' ORDER BY r",
            ["1", "2"]
        ),
        // They are names elsewhere.
        ("SELECT count(*) over FROM s", ["7"]), ("SELECT max(window.v) FROM s window", ["40"]),
    ])
    func queries(_ text: String, _ rows: [String]) throws {
        #expect(try fixture.rows(text, text.contains("$k") ? ["k": 2, "none": 0] : [:]) == rows, "\(text)")
    }

    @Test(arguments: [
        (
            "SELECT v FROM s WHERE row_number() OVER () = 1",
            "column 23: row_number() OVER looks at the rows that WHERE"
        ),
        (
            "SELECT row_number() OVER () AS r FROM s WHERE r = 1",
            "column 8: row_number() OVER looks at the rows that WHERE"
        ),
        (
            "SELECT g FROM s GROUP BY g HAVING rank() OVER () = 1",
            "column 35: rank() OVER looks at the rows that WHERE"
        ),
        ("SELECT g FROM s GROUP BY ntile(2) OVER ()", "column 26: ntile() OVER looks at"),
        ("SELECT sum(rank() OVER ()) FROM s", "column 12: rank() OVER can't stand within an aggregate"),
        (
            "SELECT sum(rank() OVER ()) OVER () FROM s",
            "column 12: rank() OVER can't stand within an aggregate"
        ),
        (
            "SELECT ANY x IN [1] SATISFIES rank() OVER () = x END FROM s",
            "column 31: rank() OVER can't stand within"
        ),
        (
            "SELECT rank() FROM s",
            "column 15: rank() is a window function: OVER and a window are expected after it"
        ),
        ("SELECT row_number(1) OVER () FROM s", "column 8: row_number() takes 0 arguments, and 1 are given"),
        ("SELECT lag(DISTINCT v) OVER () FROM s", "column 8: lag() is no aggregate, and takes no DISTINCT"),
        (
            "SELECT lag(v, n) OVER () FROM s",
            "column 8: lag() takes a number that is the same for all rows, and not n"
        ),
        (
            "SELECT sum(v) OVER (ORDER BY n ROWS n PRECEDING) FROM s",
            "column 8: sum() has a frame whose bound is n"
        ),
        ("SELECT sum(v) OVER (RANGE 1 PRECEDING) FROM s", "column 8: sum() has a frame of values in RANGE"),
        (
            "SELECT sum(v) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM s",
            "column 21: The frame ends before it begins"
        ),
        (
            "SELECT sum(v) OVER (ROWS 1) FROM s",
            "column 27: PRECEDING or FOLLOWING is expected after the bound"
        ),
        (
            "SELECT median(v) OVER (ORDER BY n) FROM s",
            "column 8: percentile_cont() with DISTINCT, and medians"
        ),
        (
            "SELECT rank() OVER ww FROM s WINDOW w AS (ORDER BY n)",
            "column 20: There is no window ww; did you mean w?"
        ),
        ("SELECT 1 FROM s WINDOW w AS (), w AS ()", "column 33: Two windows are called w"),
        (
            "SELECT rank() OVER (w ORDER BY v) FROM s WINDOW w AS (ORDER BY n)",
            "column 20: The window w has an order or a frame already"
        ),
    ])
    func errorsNameTheirPlace(_ text: String, _ message: String) throws {
        let found = QueryFixture.message { _ = try fixture.rows(text) }
        #expect(found.hasPrefix(message), "\(found)")
    }

    @Test(arguments: [
        "sum(v) OVER (ORDER BY v ROWS $k PRECEDING)", "sum(v) OVER (ORDER BY v RANGE $k PRECEDING)",
        "ntile($k) OVER ()", "nth_value(v, $k) OVER ()",
    ])
    func parametersAreChecked(_ expression: String) throws {
        let message = QueryFixture.message {
            _ = try fixture.rows("SELECT \(expression) FROM s", ["k": -1])
        }
        #expect(message.contains("the one given is none. Is its parameter set?"), "\(message)")
    }

    @Test func plansShowThem() throws {
        let steps = try fixture.database.query(
            "SELECT rank() OVER (PARTITION BY g ORDER BY n DESC) FROM s ORDER BY v"
        ).explainAnalyze().steps
        #expect(steps.map(\.operation) == ["SCAN", "WINDOW", "SORT"])
        #expect(steps[1].details == "rank() OVER (PARTITION BY g ORDER BY n DESC)")
    }

    // MARK: Against a model

    private struct Item {
        let id: String
        let group: Int
        let order: Int
        let value: Int
    }

    /// Frames of random widths over random rows, against values that are added up for each row alone.
    @Test(arguments: 0..<12) func framesAgreeWithAModel(_ seed: UInt64) throws {
        var random = SplitMix(seed)
        let items = (0..<Int.random(in: 1...90, using: &random)).map { number in
            Item(
                id: "d\(1000 + number)", group: Int.random(in: 0..<3, using: &random),
                order: Int.random(in: 0..<9, using: &random), value: Int.random(in: -50...50, using: &random))
        }
        let fixture = try QueryFixture(
            items.map { #"{"_id":"\#($0.id)","g":\#($0.group),"n":\#($0.order),"v":\#($0.value)}"# })
        for _ in 0..<8 {
            let (low, high) = (Int.random(in: -6...6, using: &random), Int.random(in: -6...6, using: &random))
            let (start, end) = (min(low, high), max(low, high))
            let isRange = Bool.random(using: &random)
            func bound(_ distance: Int) -> String {
                distance == 0 ? "CURRENT ROW" : "\(abs(distance)) \(distance < 0 ? "PRECEDING" : "FOLLOWING")"
            }
            let text = """
                SELECT _id, count(*) OVER w, sum(v) OVER w, min(v) OVER w, max(v) OVER w, first_value(v) OVER w,
                    last_value(v) OVER w, nth_value(v, 2) OVER w, array_agg(v) OVER w, rank() OVER w
                FROM _ WINDOW w AS (PARTITION BY g ORDER BY n\(isRange ? "" : ", _id")
                    \(isRange ? "RANGE" : "ROWS") BETWEEN \(bound(start)) AND \(bound(end)))
                ORDER BY _id
                """
            let expected = items.map { item -> String in
                let partition = items.filter { $0.group == item.group }.sorted {
                    ($0.order, $0.id) < ($1.order, $1.id)
                }
                let place = partition.firstIndex { $0.id == item.id } ?? 0
                let frame = partition.enumerated().filter { number, other in
                    let distance = isRange ? other.order - item.order : number - place
                    return start <= distance && distance <= end
                }.map(\.element.value)
                func text(_ value: Int?) -> String { value.map(String.init) ?? "null" }
                let rank =
                    isRange ? (partition.firstIndex { $0.order == item.order } ?? 0) + 1 : place + 1
                let list = frame.isEmpty ? "null" : "[\(frame.map(String.init).joined(separator: ","))]"
                let values = [
                    "\"\(item.id)\"", "\(frame.count)", text(frame.isEmpty ? nil : frame.reduce(0, +)),
                    text(frame.min()), text(frame.max()), text(frame.first), text(frame.last),
                    text(frame.count > 1 ? frame[1] : nil), list, "\(rank)",
                ]
                return "[\(values.joined(separator: ","))]"
            }
            #expect(try fixture.rows(text) == expected, "\(text)")
        }
    }

    private struct SplitMix: RandomNumberGenerator {
        private var state: UInt64

        init(_ seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
