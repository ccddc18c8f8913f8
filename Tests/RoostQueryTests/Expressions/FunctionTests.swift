import Foundation
import Roost
import Testing

@testable import RoostQuery

/// The functions that people who come from other databases look for, and the list of all of them.
@Suite struct FunctionTests {
    private static let fixture = Result {
        try QueryFixture([
            #"{"_id":"x","n":null,"s":"Swift","d":{"b":1,"a":[2]},"a.b":{"c[d":5},"at":"2024-02-29T12:30:45.250Z"}"#
        ])
    }

    private static func value(_ text: String) throws -> String {
        try fixture.get().rows("SELECT \(text) AS r FROM _").first ?? "no row"
    }

    /// As SQLite and DuckDB count.
    @Test(arguments: [
        ("substr('hello', 2)", "\"ello\""), ("substr('hello', 2, 3)", "\"ell\""),
        ("substring('hello', -3, 2)", "\"ll\""), ("substr('hello', 0, 3)", "\"he\""),
        ("substr('hello', -10, 7)", "\"he\""), ("substr('hello', 3, -2)", "\"he\""),
        ("substr('hello', 9)", "\"\""), ("substr('hello', 2, 0)", "\"\""), ("substr('äöü😀', 2, 2)", "\"öü\""),
        ("substr('äöü😀', -1)", "\"😀\""), ("substr(5, 1)", "null"), ("substr('x', n)", "null"),
        ("substr(nope, 1)", "MISSING"), ("substr('hello', 1e300, -1e300)", "\"hello\""),
        ("left('hello', 2)", "\"he\""), ("left('hello', -2)", "\"hel\""), ("left('hi', 9)", "\"hi\""),
        ("left('hi', 0)", "\"\""), ("left('hi', -9)", "\"\""), ("right('hello', 2)", "\"lo\""),
        ("right('hello', -2)", "\"llo\""), ("right('hi', 9)", "\"hi\""), ("right('hi', 0)", "\"\""),
        ("instr('hello', 'l')", "3"), ("strpos('äöü', 'ü')", "3"), ("instr('hello', 'x')", "0"),
        ("instr('hello', '')", "1"), ("starts_with('hello', 'he')", "true"),
        ("ends_with('hello', 'lo')", "true"),
        ("ends_with('lo', 'hello')", "false"), ("starts_with('lo', 'hello')", "false"),
        ("replace('banana', 'an', 'AN')", "\"bANANa\""), ("replace('aaa', 'a', '')", "\"\""),
        ("replace('abc', '', 'x')", "\"abc\""), ("repeat('ab', 3)", "\"ababab\""),
        ("repeat('ab', -1)", "\"\""),
        ("reverse('abc')", "\"cba\""), ("split('a,b,,c', ',')", "[\"a\",\"b\",\"\",\"c\"]"),
        ("split(' a  b ')", "[\"a\",\"b\"]"), ("split('añ', '')", "[\"a\",\"ñ\"]"),
        ("lpad('7', 3, '0')", "\"007\""), ("rpad('abc', 2)", "\"ab\""), ("rpad('a', 4, 'xy')", "\"axyx\""),
        ("lpad('é', 3)", "\"  é\""), ("lpad('a', 3, '')", "\"a\""), ("char_length('äö')", "2"),
        ("lcase('ÄB')", "\"äb\""),
        ("mod(7, 3)", "1"), ("mod(7, 0)", "null"), ("ceiling(1.2)", "2.0"), ("log10(1000)", "3.0"),
        ("log2(8)", "3.0"),
        ("coalesce(nope, n, 3)", "3"), ("nvl(n, 2)", "2"), ("iif(1 > 0, 'y', 'n')", "\"y\""),
        ("if(1 < 0, 'y')", "null"),
        ("typeof(1)", "\"number\""), ("list_contains([1, 2], 2)", "true"), ("len([1, 2])", "2"),
        ("object_names(d)", "[\"a\",\"b\"]"), ("json_keys([])", "null"), ("object_values(d)", "[[2],1]"),
    ])
    func namesFromOtherDatabases(_ text: String, _ expected: String) throws {
        #expect(try Self.value(text) == expected)
    }

    @Test(arguments: [
        ("CAST('12' AS INTEGER)", "12"), ("CAST(2.7 AS INT)", "2"), ("CAST(-2.7 AS BIGINT)", "-2"),
        ("CAST('2.7' AS INTEGER)", "2"), ("CAST('x' AS INTEGER)", "null"), ("CAST(1e300 AS INTEGER)", "null"),
        ("CAST(true AS INTEGER)", "1"), ("CAST(7 AS DOUBLE) / 2", "3.5"),
        ("CAST(7 AS DOUBLE PRECISION)", "7.0"),
        ("CAST('1.5' AS NUMERIC(10, 2))", "1.5"), ("CAST(12 AS VARCHAR(20))", "\"12\""),
        ("CAST(1.0 AS TEXT)", "\"1\""), ("CAST('false' AS BOOLEAN)", "false"),
        ("CAST('YES' AS BOOL)", "true"),
        ("CAST(0 AS BOOLEAN)", "false"), ("CAST('maybe' AS BOOLEAN)", "null"), ("CAST(n AS TEXT)", "null"),
        ("CAST(nope AS TEXT)", "MISSING"), ("CAST(at AS DATE)", "\"2024-02-29\""),
        ("CAST(1709209845250 AS TIMESTAMP)", "\"2024-02-29T12:30:45.250Z\""),
        ("CAST('2024-02-29 12:30' AS TIMESTAMP)", "\"2024-02-29T12:30:00\""),
        ("CAST('soon' AS DATE)", "null"),
        ("try_cast('x' AS INTEGER)", "null"), ("'12'::INT + 1", "13"), ("(1 + 1)::TEXT::INT", "2"),
        ("{'x': '1'::INT}", "{\"x\":1}"), ("d.b::TEXT", "\"1\""),
    ])
    func casts(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    /// Whatever the zone is of whoever asks: a text is read as its own clock shows it.
    @Test(arguments: [
        ("date_part('year', at)", "2024"), ("date_part(at, 'month')", "2"),
        ("date_part_str(at, 'day')", "29"),
        ("date_part_millis(0, 'year')", "1970"), ("EXTRACT(hour FROM at)", "12"),
        ("extract('minute' FROM at)", "30"),
        ("year(at)", "2024"), ("quarter(at)", "1"), ("second(at)", "45"),
        ("date_part('millisecond', at)", "250"),
        ("week(at)", "9"), ("week('2021-01-03')", "53"), ("date_part('isoyear', '2021-01-03')", "2020"),
        ("dayofyear(at)", "60"), ("dow('2024-02-25')", "0"), ("isodow('2024-02-25')", "7"),
        ("dow('1969-12-31')", "3"),
        ("date_part('decade', at)", "202"), ("date_part('century', '2000-01-01')", "20"),
        ("date_part('millennium', '2001-01-01')", "3"), ("date_part('Years', at)", "2024"),
        ("hour('2024-02-29T12:30:45+05:00')", "12"), ("hour('2024-02-29T12:30:45')", "12"),
        ("date_part('fortnight', at)", "null"), ("year('soon')", "null"), ("year(nope)", "MISSING"),
        ("date_trunc('month', at)", "\"2024-02-01T00:00:00Z\""),
        ("date_trunc('year', '2024-02-29')", "\"2024-01-01\""),
        ("date_trunc('week', '2024-02-29')", "\"2024-02-26\""),
        ("date_trunc('quarter', '2024-05-29')", "\"2024-04-01\""),
        ("date_trunc('hour', '2024-02-29 12:30:45')", "\"2024-02-29 12:00:00\""),
        ("date_trunc('day', '2024-02-29T12:30')", "\"2024-02-29T00:00:00\""),
        ("date_trunc('hour', '2024-02-29T12:30:45+05:30')", "\"2024-02-29T12:00:00+05:30\""),
        ("date_trunc('century', at)", "\"2000-01-01T00:00:00Z\""),
        ("date_trunc('day', 86400001)", "86400000"),
        ("date_trunc('second', -1)", "-1000"), ("date_trunc('week', -1)", "-259200000"),
        ("date_trunc_str(at, 'day')", "\"2024-02-29T00:00:00Z\""), ("date_trunc('soon', at)", "null"),
    ])
    func partsOfDates(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    /// LiteCore's paths, whose names have dots and brackets in them.
    @Test func pathsWithBracketsAndEscapedDots() throws {
        for text in ["`a.b`['c[d']", "`a.b`[\"c[d\"]", "`a.b`.`c[d`", "`a.b`[`c[d`]"] {
            #expect(try Self.value(text) == "5", "\(text)")
        }
        #expect(try Self.value("d['a'][0]") == "2")
        for json in [
            #"[".a\\.b.c\\[d"]"#, #"[".", "a.b", "c[d"]"#, #"["_.c\\[d", [".a\\.b"]]"#,
            #"["_.", [".", "a.b"], "c\\[d"]"#,
        ] {
            #expect(try Self.fixture.get().rows(json: #"{"WHAT": [\#(json)]}"#) == ["5"], "\(json)")
        }
        #expect(
            try Self.fixture.get().rows(
                json: #"{"WHAT": ["a\\.b.c\\[d", [".d.a[0]"], [".", "d", "a", [0]]]}"#) == ["[5,2,2]"])
        let notes = try Self.fixture.get().database.defaultCollection
        try notes.createIndex("dotted", on: "`a.b`['c[d']")
        #expect(try Self.fixture.get().rows("SELECT _id FROM _ WHERE `a.b`.`c[d` = 5") == ["\"x\""])
    }

    // MARK: Aggregates

    private static let numbers = Result {
        try QueryFixture(
            (0..<200).map { #"{"g":\#($0 % 2),"v":\#(($0 &* 7919) % 200),"t":"t\#($0 % 3)"}"# } + [
                #"{"g":0,"v":"x"}"#, #"{"g":1}"#,
            ])
    }

    @Test(arguments: [
        ("median(v)", "99.5"), ("percentile_cont(v, 0.25)", "49.75"), ("quantile_disc(v, 0.25)", "49"),
        ("percentile_cont(0.9) WITHIN GROUP (ORDER BY v)", "179.1"), ("percentile_disc(v, 0)", "0"),
        ("percentile_disc(v, 1)", "199"), ("round(stddev(v), 6)", "57.879185"),
        ("round(stddev_pop(v), 6)", "57.734305"),
        ("variance(v)", "3350.0"), ("var_pop(v)", "3333.25"), ("mean(v)", "99.5"),
        ("count(*) FILTER (WHERE v < 10)", "10"),
        ("sum(v) FILTER (WHERE v < 3)", "3"), ("median(nope)", "null"),
        ("stddev(v) FILTER (WHERE v = 1)", "null"),
        ("var_pop(v) FILTER (WHERE v = 1)", "0.0"), ("group_concat(DISTINCT t)", "\"t0,t1,t2\""),
        ("string_agg(v, '-') FILTER (WHERE _id IN ('d0', 'd1'))", "\"0-119\""), ("len(list(t))", "200"),
    ])
    func aggregates(_ text: String, _ expected: String) throws {
        #expect(try Self.numbers.get().rows("SELECT \(text) FROM _") == [expected])
    }

    @Test func aggregatesOfGroups() throws {
        #expect(
            try Self.numbers.get().rows(
                "SELECT g, median(v), count(v) FROM _ GROUP BY g HAVING median(v) > 0 ORDER BY g")
                == ["[0,99.0,101]", "[1,100.0,100]"])
    }

    /// Numbers that exceed the memory are spilled, and the places in their order are the same.
    @Test func percentilesOfMoreThanTheMemoryHolds() throws {
        let fixture = try QueryFixture(
            (0..<20_000).map { #"{"g":\#($0 % 3),"v":\#(($0 &* 7919) % 10_000),"w":\#($0 % 5)}"# })
        for text in [
            "SELECT median(v), percentile_cont(v, 0.123), percentile_disc(v, 0.9), min(v), percentile_disc(w, 0.5) FROM _",
            "SELECT g, median(v), percentile_disc(v, 0.01), median(w), count(DISTINCT v) FROM _ GROUP BY g",
            "SELECT v % 5000, median(v), percentile_cont(w, 0.7) FROM _ GROUP BY v % 5000",
        ] {
            var query = try fixture.database.query(text)
            let expected = try QueryFixture.texts(try query.fetch())
            query.options.memoryLimit = 1 << 16
            #expect(try QueryFixture.texts(try query.fetch()) == expected, "\(text)")
        }
    }

    @Test(arguments: [
        ("SELECT percentile_cont(v, 2) FROM _", "from 0 to 1"),
        ("SELECT percentile_cont(v, v) FROM _", "from 0 to 1"),
        ("SELECT median(DISTINCT v) FROM _", "takes no DISTINCT"),
        ("SELECT lower(DISTINCT v) FROM _", "takes no DISTINCT"),
        ("SELECT CAST(v AS INTEGRE) FROM _", "did you mean INTEGER?"),
        ("SELECT substr(v) FROM _", "substr() takes 2 to 3"),
        ("SELECT subst(v, 1) FROM _", "did you mean SUBSTR?"),
        ("SELECT group_concat(v, v) FROM _", "a separator"),
        ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v DESC) FROM _", "orders upwards"),
        ("SELECT median(v, 1) FROM _", "median() takes 1 argument"),
        ("SELECT iif(v) FROM _", "2 to 3 arguments"),
        ("SELECT avg() FROM _", "avg() takes 1 argument, and 0"),
    ])
    func mistakes(_ text: String, _ part: String) throws {
        let message = QueryFixture.message { _ = try Self.numbers.get().database.query(text) }
        #expect(message.contains(part), "\(message)")
    }

    /// A text that would take all memory ends the query, and one that is looked for long does not take long.
    @Test func functionsThatMakeMuchOfLittle() throws {
        let message = QueryFixture.message {
            _ = try Self.value("length(repeat(repeat('x', 1000000), 1000000))")
        }
        #expect(message.contains("longer than"), "\(message)")
        #expect(QueryFixture.message { _ = try Self.value("lpad('x', 1e12)") }.contains("longer than"))
        let long = String(repeating: "a", count: 200_000)
        #expect(try Self.value("instr('\(long)', repeat('a', 100000) || 'b')") == "0")
        #expect(try Self.value("contains('\(long)b', repeat('a', 100000) || 'b')") == "true")
        #expect(try Self.value("length(replace('\(long)b', repeat('a', 100000) || 'b', ''))") == "100000")
    }

    // MARK: The list

    /// Whatever is on the list can be called by all of its names.
    @Test func everyFunctionOfTheListCanBeCalled() throws {
        for entry in FunctionTable.all where !entry.usage.contains(where: \.isUppercase) {
            let arguments = entry.arguments.split(separator: ",").map { $0.trimmingPrefix(" ") }
            let least = arguments.filter { !$0.hasSuffix("?") && $0 != "…" }
            var values = least.map {
                $0 == "fraction"
                    ? "0.5" : $0 == "count" || $0 == "number" && entry.topic == .windows ? "1" : "s"
            }
            if least.isEmpty, arguments.last == "…" { values = ["s"] }
            for name in [entry.name] + entry.aliases {
                let window = entry.topic == .windows ? " OVER (ORDER BY s)" : ""
                let text = "SELECT \(name)(\(values.joined(separator: ", ")))\(window) FROM _"
                #expect(
                    QueryFixture.message { _ = try Self.fixture.get().rows(text) } == "no error", "\(text)")
            }
        }
        var names: Set<String> = []
        for name in FunctionTable.all.flatMap({ [$0.name] + $0.aliases }) {
            #expect(names.insert(name).inserted, "two functions are called \(name)")
        }
    }

    /// The documentation's tables are those of the list.
    @Test func theDocumentationListsEveryFunction() throws {
        let article = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../Sources/RoostQuery/RoostQuery.docc/Functions.md"), encoding: .utf8)
        for topic in FunctionTable.Topic.allCases {
            let rows = FunctionTable.entries(of: topic).map { entry in
                let aliases = entry.aliases.map { "`\($0)`" }.joined(separator: ", ")
                return
                    "| `\(entry.usage)` | \(aliases) | \(entry.meaning.replacing("||", with: "\\|\\|")) |\n"
            }
            let table =
                "## \(topic.rawValue)\n\n| Function | Also | Yields |\n|---|---|---|\n" + rows.joined()
            #expect(article.contains(table), "Functions.md should have:\n\(table)")
        }
    }
}

// MARK: - Regular expression tests

@Suite struct RegularExpressionTests {
    /// The matched text and groups, parted by bars; `-` for none, `~` for a group that took no part.
    private static func match(_ pattern: String, _ text: String) throws -> String {
        let scalars = Array(text.unicodeScalars)
        var matcher = PatternMatcher(try RegularExpression(pattern), scalars)
        guard let groups = try matcher.firstMatch() else { return "-" }
        return groups.map { $0.map { String(String.UnicodeScalarView(scalars[$0])) } ?? "~" }.joined(
            separator: "|")
    }

    // By ECMA-262, section 22.2, and PCRE's manual for the flags.
    @Test(arguments: [
        ("abc", "xabcx", "abc"), ("a.c", "abc", "abc"), ("a.c", "a\nc", "-"), ("(?s)a.c", "a\nc", "a\nc"),
        ("^b", "a\nb", "-"), ("(?m)^b", "a\nb", "b"), ("a$", "ba", "a"), ("a|bc|d", "xbc", "bc"),
        ("a*", "aaab", "aaa"), ("a*?b", "aab", "aab"), ("a+?", "aaa", "a"), ("a{2}", "aaa", "aa"),
        ("a{2,}", "aaaa", "aaaa"), ("a{1,2}?", "aaa", "a"), ("a{,2}", "a{,2}", "a{,2}"), ("x{", "x{", "x{"),
        ("(a)(b)?", "ac", "a|a|~"), ("(?:ab)+", "ababx", "abab"), ("(a+)(a+)", "aaa", "aaa|aa|a"),
        ("(a)|b", "b", "b|~"), ("(\\w+)\\s\\1", "the the", "the the|the"),
        ("(?<y>\\d{4})-\\k<y>", "2020-2020", "2020-2020|2020"),
        ("[a-c]+", "xxabcd", "abc"), ("[^a-c]+", "abxyc", "xy"), ("[\\d-]+", "12-3", "12-3"),
        ("[]]", "]", "-"), ("[\\]]", "]", "]"), ("[a\\-z]+", "a-z", "a-z"), ("\\D+", "12ab", "ab"),
        ("\\W", "a b", " "),
        ("\\bcat\\b", "a cat.", "cat"), ("\\Bat", "cat", "at"), ("a(?=b)", "acab", "a"),
        ("a(?!c)", "acab", "a"), ("(?<=c)a", "aca", "a"), ("(?<!c)b", "cb", "-"),
        ("(?i)HeLLo", "hEllO", "hEllO"), ("(?i)[A-C]+", "abC", "abC"),
        ("\\u00e9", "é", "é"), ("\\x41", "A", "A"), ("\\u{1F600}", "😀", "😀"), ("(a*)*", "aaab", "aaa|aaa"),
        ("(a*)+", "b", "|"), ("(z)((a+)?(b+)?(c))*", "zaacbbbcac", "zaacbbbcac|z|ac|a|~|c"), ("", "abc", ""),
        ("[[:alpha:]]+", "1ab2", "ab"),
        ("(?=(a+))a*b\\1", "baaabac", "aba|a"), ("(a(b)?)+", "aba", "aba|a|~"), ("é+", "ééx", "éé"),
    ])
    func matches(_ pattern: String, _ text: String, _ expected: String) throws {
        #expect(try Self.match(pattern, text) == expected)
    }

    @Test(arguments: [
        "(", ")", "*a", "a**", "[a", "[z-a]", "a{3,2}", "\\", "(?<n", "\\k<x>", "\\2", "a{1001}", "(?#x)",
        "((a{1000}){1000}){1000}", "\\q", "(?<=ab)c",
    ])
    func malformedOnesAreRefused(_ pattern: String) {
        #expect(throws: QueryError.self) { try RegularExpression(pattern) }
    }

    @Test func backtrackingIsBounded() throws {
        let text = Array(String(repeating: "a", count: 40).unicodeScalars)
        var matcher = PatternMatcher(try RegularExpression("(a+)+b"), text)
        #expect(throws: PatternMatcher.TooManySteps.self) { try matcher.firstMatch() }
        let fixture = try QueryFixture([#"{"s":"\#(String(repeating: "a", count: 40))"}"#])
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT regexp_like(s, '(a+)+b') FROM _") }.contains(
                "takes more than 2000000 steps"))
        let deep = String(repeating: "(", count: 500) + String(repeating: ")", count: 500)
        #expect(throws: QueryError.self) { try RegularExpression(deep) }
    }
}
