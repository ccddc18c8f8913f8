import Roost
import Testing

/// What expressions come to, in tables: the text in SQL++ and the value as JSON.
@Suite struct ExpressionTests {
    private static let fixture = Result {
        try QueryFixture([
            #"""
            {"_id":"x","a":1,"b":2.5,"s":"Swift","t":true,"n":null,"big":9223372036854775807,"huge":18446744073709551615,
             "list":[1,2,3,null,"x"],"empty":[],"d":{"e":{"f":[10,20,{"g":"deep"}]}},"a.b":7,"blob":"aGk=",
             "é":"Résumé","date":"2024-02-29T12:30:45.250Z"}
            """#
        ])
    }

    private static func value(_ text: String) throws -> String {
        try fixture.get().rows("SELECT \(text) AS r FROM _").first ?? "no row"
    }

    @Test(arguments: [
        ("1 + 2", "3"), ("1 + 2.5", "3.5"), ("7 / 2", "3"), ("7.0 / 2", "3.5"), ("-7 / 2", "-3"),
        ("7 % 3", "1"),
        ("-7 % 3", "-1"), ("1 / 0", "null"), ("1 % 0", "null"), ("1.5 / 0", "null"), ("7 % -1", "0"),
        ("big + 1 = 9223372036854775808.0", "true"), ("big * 2 = 18446744073709551614", "true"),
        ("-(-9223372036854775808) = 9223372036854775808.0", "true"),
        ("huge", "18446744073709551615"), ("huge - 1 = 18446744073709551614", "true"), ("2 * 3 + 4", "10"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"), ("10 - 4 - 3", "3"), ("-a", "-1"), ("- b", "-2.5"), ("1 + 'x'", "null"),
        ("1 + nope", "MISSING"),
        ("nope + n", "MISSING"), ("1 + n", "null"), ("'a' || 'b' || 1", "\"ab1\""), ("'a' || n", "null"),
        ("'a' || nope", "MISSING"),
        ("1e3", "1000.0"), (".5", "0.5"), ("+3", "3"), ("17.", "17.0"), ("1.e2", "100.0"),
        ("idiv(-1, 1.9)", "-1"), ("idiv(1, 0.99)", "null"), ("idiv(7.9, -2)", "-3"),
        ("round_even(12.115, 2)", "12.12"), ("round_even(-12.125, 2)", "-12.12"),
        ("round_even(2.5)", "2.0"), ("round_even(8.83, -1)", "10.0"),
    ])
    func arithmetic(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    /// As many as a program puts together, in both languages and of mixed kinds.
    @Test func longChainsOfOperators() throws {
        let count = 20_000
        #expect(try Self.value((0...count).map { "\($0)" }.joined(separator: " + ")) == "200010000")
        #expect(try Self.value("b" + String(repeating: " - 0.5 + a", count: count)) == "10002.5")
        #expect(try Self.value("1" + String(repeating: " * 2 / 2", count: count)) == "1")
        #expect(try Self.value("1" + String(repeating: " + 2 * 3 - 6", count: count)) == "1")
        let json = #"{"WHAT": [["+", \#((0...count).map { "\($0)" }.joined(separator: ","))]]}"#
        #expect(try Self.fixture.get().rows(json: json) == ["200010000"])
    }

    /// Documents whose properties stand at the same places, at others, or nowhere.
    @Test func propertiesOfDocumentsOfManyShapes() throws {
        let fixture = try QueryFixture([
            #"{"a":1,"b":2,"c":3}"#, #"{"a":1,"b":4,"c":3}"#, #"{"b":5}"#, #"{"aa":1,"ab":2,"b":6,"bb":7}"#,
            #"{"c":3}"#, "{}", #"{"b":{"b":1}}"#, #"{"a":0,"bc":8,"b":9}"#,
        ])
        #expect(
            try fixture.rows("SELECT b, b.b FROM _") == [
                "[2,MISSING]", "[4,MISSING]", "[5,MISSING]", "[6,MISSING]", "[MISSING,MISSING]",
                "[MISSING,MISSING]", #"[{"b":1},1]"#, "[9,MISSING]",
            ])
    }

    @Test(arguments: [
        ("1 = 1.0", "true"), ("1 = '1'", "false"), ("1 < 'a'", "true"), ("true < 1", "true"),
        ("'z' < [1]", "true"),
        ("[1] < {}", "true"), ("[1,2] < [1,3]", "true"), ("[1] < [1,0]", "true"),
        ("{'a':1} = {'a':1.0}", "true"),
        ("n = n", "null"), ("nope = 1", "MISSING"), ("n = nope", "MISSING"), ("a != 2", "true"),
        ("a <> 1", "false"),
        ("a == 1", "true"), ("2 >= a", "true"), ("a BETWEEN 1 AND 3", "true"),
        ("a NOT BETWEEN 1 AND 3", "false"),
        ("n BETWEEN 1 AND 3", "null"), ("big < huge", "true"),
        ("9007199254740993 = 9007199254740992.0", "false"),
        ("9007199254740993 > 9007199254740992.0", "true"), ("huge > 1.8e19", "true"),
        ("huge < 1.9e19", "true"),
        ("'B' < 'a'", "true"), ("'B' < 'a' COLLATE NOCASE", "false"),
        ("'résumé' = 'RESUME' COLLATE (UNICODE NOCASE NODIAC)", "true"),
        ("'résumé' = 'resume' COLLATE (UNICODE NOCASE)", "false"), ("'a' < 'B' COLLATE UNICODE", "true"),
        ("('B' COLLATE NOCASE) < 'a'", "false"), ("'B' < ('a' COLLATE NOCASE)", "false"),
        ("('B' COLLATE NOCASE) IN ('b')", "true"),
        ("('Abc' COLLATE NOCASE) LIKE 'aB%'", "true"),
        ("n IS NULL", "true"), ("nope IS NULL", "false"), ("nope IS MISSING", "true"),
        ("n IS MISSING", "false"),
        ("n IS VALUED", "false"), ("a IS VALUED", "true"), ("a IS NOT VALUED", "false"),
        ("n IS NOT NULL", "false"), ("nope IS NOT NULL", "false"), ("a IS NOT NULL", "true"),
        ("nope IS NULL", "false"), ("NOT (nope IS NULL)", "true"),
        ("n NOT NULL", "false"), ("n IS n", "true"), ("a IS 1", "true"), ("a IS NOT 2", "true"),
        ("nope IS nope", "true"),
        ("a IN (1, 2)", "true"), ("a NOT IN (1, 2)", "false"), ("a IN list", "true"), ("a IN 5", "null"),
        ("a IN []", "false"),
        ("n IN (1)", "null"), ("nope IN (1)", "MISSING"), ("a IN (5,6,7,8,9,1)", "true"),
        ("a NOT IN (5,6,7,8,9,1)", "false"),
        ("'x' IN ('a','b','c','d','e')", "false"),
    ])
    func comparisons(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    @Test(arguments: [
        ("true AND true", "true"), ("true AND false", "false"), ("false AND nope", "false"),
        ("true AND nope", "MISSING"),
        ("true AND n", "null"), ("n AND nope", "MISSING"), ("n AND false", "false"),
        ("nope AND false", "false"),
        ("true OR nope", "true"), ("false OR nope", "MISSING"), ("n OR nope", "null"), ("false OR n", "null"),
        ("nope OR n", "null"),
        ("n OR true", "true"), ("false OR false", "false"), ("NOT true", "false"), ("NOT n", "null"),
        ("NOT nope", "MISSING"),
        ("NOT 0", "true"), ("2 AND 1", "true"), ("'x' AND true", "false"),
        ("true AND true AND n AND nope", "MISSING"),
        ("false OR true AND false", "false"), ("CASE WHEN a = 1 THEN 'one' ELSE 'other' END", "\"one\""),
        ("CASE a WHEN 2 THEN 'two' WHEN 1 THEN 'one' END", "\"one\""),
        ("CASE a WHEN 2 THEN 'two' END", "null"),
        ("CASE WHEN 2 THEN 'yes' ELSE 'no' END", "\"yes\""),
        ("CASE WHEN 0 THEN 'yes' ELSE 'no' END", "\"no\""),
        ("ANY x IN [0,2] SATISFIES x END", "true"), ("EVERY x IN [0,2] SATISFIES x END", "false"),
        ("CASE WHEN n THEN 1 WHEN nope THEN 2 ELSE 3 END", "3"),
        ("ANY x IN list SATISFIES x = 3 END", "true"), ("ANY x IN list SATISFIES x = 9 END", "false"),
        ("SOME x IN list SATISFIES x > 2 END", "true"), ("EVERY x IN empty SATISFIES false END", "true"),
        ("EVERY x IN [1,2] SATISFIES x < 3 END", "true"), ("EVERY x IN [1,5] SATISFIES x < 3 END", "false"),
        ("ANY AND EVERY x IN empty SATISFIES true END", "false"),
        ("ANY AND EVERY x IN [1] SATISFIES x = 1 END", "true"),
        ("ANY x IN d SATISFIES x.f[0] = 10 END", "true"), ("ANY x IN nope SATISFIES true END", "MISSING"),
        ("ANY x IN a SATISFIES true END", "null"),
        ("ANY x IN [[1],[2]] SATISFIES ANY y IN x SATISFIES y = a END END", "true"),
        ("EXISTS d.e", "true"), ("EXISTS nope", "false"),
    ])
    func logic(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    @Test(arguments: [
        ("d.e.f[0]", "10"), ("d.e.f[-1].g", "\"deep\""), ("d.e.f[9]", "MISSING"), ("d.nope.f", "MISSING"),
        ("a.b", "MISSING"),
        ("`a.b`", "7"), ("é", "\"Résumé\""), ("_id", "\"x\""), ("META().id", "\"x\""),
        ("META().sequence", "1"), ("META().deleted", "false"),
        ("META().expiration", "MISSING"), ("[a, nope, n]", "[1,null,null]"),
        ("{'x': a, 'y': nope}", "{\"x\":1}"), ("[1,2][1]", "2"),
        ("(d.e).f[1]", "20"), ("d.*", "{\"e\":{\"f\":[10,20,{\"g\":\"deep\"}]}}"), ("[]", "[]"), ("{}", "{}"),
        ("MISSING", "MISSING"),
        ("'it''s'", "\"it's\""), ("\"double \"\" quote\"", "\"double \\\" quote\""),
        ("a -- comment\n", "1"),
        ("/* c */ a", "1"),
    ])
    func paths(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    /// Whole numbers are exact for as long as they fit in 64 bits, signed or not.
    @Test(arguments: [
        ("9223372036854775807 + 1", "9223372036854775808"),
        ("18446744073709551615 - 1", "18446744073709551614"),
        ("18446744073709551615 + 1", "1.8446744073709552e+19"),
        ("9223372036854775808 - 1", "9223372036854775807"), ("18446744073709551615 % 10", "5"),
        ("18446744073709551615 / 5", "3689348814741910323"),
        ("-9223372036854775808 / -1", "9223372036854775808"),
        ("4294967296 * 4294967295", "18446744069414584320"),
        ("4294967296 * 4294967296", "1.8446744073709552e+19"),
        ("-9223372036854775808 - 1", "-9.223372036854776e+18"), ("-7 / 2", "-3"), ("-7 % 2", "-1"),
        ("7 / -2", "-3"), ("7 % -2", "1"), ("18446744073709551615 % 0", "null"), ("7 / 0", "null"),
        ("idiv(9007199254740993, 1)", "9007199254740993"), ("idiv(7.5, 2)", "3"), ("idiv(7, 0)", "null"),
        ("idiv(9223372036854775807, -1)", "-9223372036854775807"),
    ])
    func wholeNumbers(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    @Test(arguments: [
        ("array_sum(list)", "6"), ("array_sum([9223372036854775807, 1, -1])", "9223372036854775807"),
        ("array_sum([9223372036854775807, 1])", "9223372036854775808"),
        ("array_avg(list)", "2.0"), ("array_min(list)", "1"),
        ("array_max([-3,-1,-2])", "-1"),
        ("array_max(list)", "\"x\""), ("array_count(list)", "4"), ("array_length(list)", "5"),
        ("array_contains(list, 'x')", "true"),
        ("array_contains(list, 1.0)", "true"), ("array_contains(a, 1)", "null"),
        ("array_ifnull([null, 2])", "2"),
        ("array_of(1, 2)", "[1,2]"), ("array_avg(empty)", "null"), ("array_sum(empty)", "0"),
        ("array_length(nope)", "MISSING"),
        ("array_length('x')", "null"), ("ifmissing(nope, n, 3)", "null"), ("ifnull(n, nope, 3)", "MISSING"),
        ("ifmissingornull(nope, n, 3)", "3"),
        ("missingif(1, 1)", "MISSING"), ("missingif(1, 2)", "1"), ("nullif(1, 1)", "null"),
        ("nullif(1, n)", "null"), ("greatest(1, 3, n, 2)", "3"),
        ("least(3, 1, nope)", "1"), ("greatest(n)", "null"),
    ])
    func collectionsAndConditions(_ text: String, _ expected: String) throws {
        #expect(try Self.value(text) == expected)
    }

    @Test(arguments: [
        ("abs(-3)", "3"), ("abs(-9223372036854775808)", "9223372036854775808"), ("abs('x')", "null"),
        ("ceil(1.2)", "2.0"), ("floor(-1.2)", "-2.0"),
        ("ceil(3)", "3"), ("round(2.5)", "3.0"), ("round(-2.5)", "-3.0"), ("round_even(2.5)", "2.0"),
        ("round(2.567, 2)", "2.57"),
        ("round(1234, -2)", "1200"), ("trunc(2.99)", "2.0"), ("trunc(-2.567, 1)", "-2.5"),
        ("sqrt(16)", "4.0"), ("sqrt(-1)", "null"),
        ("ln(0)", "null"), ("log(1000)", "3.0"), ("power(2, 10)", "1024.0"), ("power(10, 400)", "null"),
        ("div(5, 2)", "2.5"), ("div(5, 0)", "null"),
        ("idiv(-5, 2)", "-2"), ("sign(-2.5)", "-1"), ("sign(0)", "0"), ("degrees(pi())", "180.0"),
        ("radians(180) = pi()", "true"),
        ("atan2(0, 1)", "0.0"), ("acos(2)", "null"), ("exp(0)", "1.0"), ("e() > 2.718", "true"),
        ("sin(n)", "null"), ("sin(nope)", "MISSING"),
    ])
    func numbers(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    @Test(arguments: [
        ("lower('ÄB')", "\"äb\""), ("upper('aß')", "\"ASS\""), ("length('é😀')", "2"), ("length(5)", "null"),
        ("concat('a', 1, true)", "\"a1true\""),
        ("trim('  x ')", "\"x\""), ("ltrim('  x ')", "\"x \""), ("rtrim('xxay', 'xy')", "\"xxa\""),
        ("trim('xxaxx', 'x')", "\"a\""),
        ("contains('Swift', 'wif')", "true"), ("contains('Swift', 'WIF')", "false"),
        ("contains('Swift', 'WIF') COLLATE NOCASE", "true"),
        ("contains('Résumé', 'SUME') COLLATE (UNICODE NOCASE NODIAC)", "true"), ("contains('x', '')", "true"),
        ("contains('x', n)", "null"),
        ("s LIKE 'Sw%'", "true"), ("s LIKE 'sw%'", "false"), ("s LIKE 'sw%' COLLATE NOCASE", "true"),
        ("s LIKE '_wift'", "true"), ("s LIKE '%f_'", "true"),
        ("s LIKE 'Swift_'", "false"), ("'50%' LIKE '50\\%'", "true"), ("'505' LIKE '50\\%'", "false"),
        ("s NOT LIKE 'x%'", "true"), ("n LIKE 'x'", "null"),
        ("5 LIKE 'x'", "false"), ("'😀' LIKE '_'", "true"), ("'aaab' LIKE '%a%a%b'", "true"),
        ("regexp_contains('Swift', 'w.f')", "true"), ("regexp_like('Swift', '^S')", "true"),
        ("regexp_like('Swift', '^w')", "false"),
        ("regexp_position('Swift', 'f')", "3"), ("regexp_position('Swift', 'z')", "-1"),
        ("regexp_replace('a-b-c', '-', '+')", "\"a+b+c\""),
        ("regexp_replace('a-b-c', '-', '+', 1)", "\"a+b-c\""),
        ("regexp_replace('John Smith', '(\\w+) (\\w+)', '$2 $1')", "\"Smith John\""),
        ("regexp_replace('abc', 'x*', '-')", "\"-a-b-c-\""),
    ])
    func strings(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    @Test(arguments: [
        ("type(a)", "\"number\""), ("type(n)", "null"), ("typename(nope)", "MISSING"),
        ("type([])", "\"array\""), ("type({})", "\"object\""),
        ("isarray([])", "true"), ("is_array(nope)", "MISSING"), ("isatom('x')", "true"),
        ("isatom([])", "false"), ("isboolean(t)", "true"),
        ("isnumber(n)", "null"), ("isobject({})", "true"), ("isstring(s)", "true"), ("toarray(1)", "[1]"),
        ("toarray([1])", "[1]"), ("toatom([[5]])", "5"),
        ("toatom([1,2])", "null"), ("toboolean('')", "false"), ("toboolean('x')", "true"),
        ("toboolean([])", "false"), ("toboolean({})", "false"),
        ("toboolean(0)", "false"), ("tonumber('1x')", "null"), ("tonumber(' 1')", "null"),
        ("tonumber('0x10')", "null"), ("tonumber('12')", "12"),
        ("tonumber('1.5e2')", "150.0"), ("tonumber(true)", "1"), ("tonumber('inf')", "null"),
        ("toobject(1)", "{}"), ("toobject([1])", "{}"),
        ("toobject({'a': 1})", "{\"a\":1}"), ("to_object(n)", "null"), ("toobject(nope)", "MISSING"),
        ("tostring(1.0)", "\"1\""), ("tostring(999999999999999.0)", "\"999999999999999\""),
        ("tostring(1e15)", "\"1000000000000000\""), ("tostring(1e16)", "\"10000000000000000\""),
        ("tostring(123456789012345680000.0)", "\"123456789012345680000\""),
        ("tostring(1e21)", "\"1e+21\""), ("tostring(-1.25e300)", "\"-1.25e+300\""),
        ("tostring(0.000001)", "\"0.000001\""), ("tostring(1e-7)", "\"1e-7\""),
        ("tostring(1.5e-7)", "\"1.5e-7\""), ("tostring(-0.0)", "\"0\""), ("tostring(0.1)", "\"0.1\""),
        ("tostring(1234.5)", "\"1234.5\""), ("tostring(-20.0)", "\"-20\""),
        ("tostring(1.5)", "\"1.5\""), ("tostring(t)", "\"true\""), ("tostring([])", "null"),
    ])
    func kinds(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    @Test(arguments: [
        ("str_to_millis('1970-01-01T00:00:01Z')", "1000"), ("str_to_millis(date)", "1709209845250"),
        ("str_to_millis('nonsense')", "null"),
        ("str_to_millis('2024-01-01T00:00:00+02:00')", "1704060000000"),
        ("millis_to_utc(0)", "\"1970-01-01T00:00:00Z\""),
        ("millis_to_utc(1709209845250)", "\"2024-02-29T12:30:45.250Z\""),
        ("millis_to_utc(0, '1111-11-11')", "\"1970-01-01\""),
        ("millis_to_utc(0, '11:11:11')", "\"00:00:00\""),
        ("millis_to_utc(0, '1111-11-11 11:11')", "\"1970-01-01T00:00:00Z\""),
        ("millis_to_tz(0, 90)", "\"1970-01-01T01:30:00+0130\""),
        ("millis_to_tz(0, -60, '%F %T%Ez')", "\"1969-12-31 23:00:00-01:00\""),
        ("millis_to_utc(-1)", "\"1969-12-31T23:59:59.999Z\""),
        ("str_to_utc('2024-01-01T01:00:00+01:00')", "\"2024-01-01T00:00:00Z\""),
        ("str_to_tz('2024-01-01T00:00:00Z', 60)", "\"2024-01-01T01:00:00+0100\""),
        ("date_diff_str('2024-03-01T00:00:00Z', '2024-02-28T00:00:00Z', 'day')", "2"),
        ("date_diff_millis(86400000, 0, 'hour')", "24"),
        ("date_diff_str('2024-03-15T00:00:00Z', '2023-12-31T00:00:00Z', 'month')", "3"),
        ("date_diff_str('2018-09-11 00:00:01', '2018-09-10 23:59:59', 'day')", "1"),
        ("date_diff_str('2013-12-01', '2015-01-01', 'quarter')", "-5"),
        ("date_diff_str('2006-01-02', '1998-02-02', 'year')", "8"),
        ("date_diff_str('2118-04-08', '2017-01-01', 'century')", "1"),
        ("date_diff_str('2018-01-31T00:01:01.5Z', '2018-01-31T00:01:00.9Z', 'second')", "1"),
        ("date_diff_str('2018-01-31T02:00:00-07:00', '2018-01-31T00:00:00-08:00', 'hour')", "2"),
        ("date_diff_millis(-1, 0, 'minute')", "-1"),
        ("millis_to_utc(1540319581123, '%F %T%s')", "\"2018-10-23 18:33:01.123\""),
        ("millis_to_utc(1540319581123, '%Y/%m/%d')", "\"2018/10/23\""),
        ("millis_to_utc(1540319581999, '%H:%M:%S')", "\"18:33:01\""),
        ("millis_to_utc(1540319581999, '1111-11-11   T 11:11:11')", "\"2018-10-23T18:33:01.999Z\""),
        ("date_diff_str('2020-01-01T00:00:00Z', '2024-01-01T00:00:00Z', 'year')", "-4"),
        ("date_add_str('2024-01-31T00:00:00Z', 1, 'month')", "\"2024-03-02T00:00:00Z\""),
        ("date_add_str('2016-01-01T00:00:00-07:00', 1, 'day')", "\"2016-01-02T00:00:00-0700\""),
        ("date_add_str('2018-01-01T00:00:00.001Z', -1, 'millisecond')", "\"2018-01-01T00:00:00Z\""),
        ("date_add_str('2024-01-01', 1, 'week', '1111-11-11')", "\"2024-01-08\""),
        ("date_add_millis(0, 2, 'day')", "172800000"), ("date_add_millis(0, 1, 'fortnight')", "null"),
        ("date_add_str('2024-02-29T00:00:00Z', 1, 'year')", "\"2025-03-01T00:00:00Z\""),
        ("date_add_str('2024-01-01T00:00:00Z', -1, 'quarter')", "\"2023-10-01T00:00:00Z\""),
        ("millis_to_utc(n)", "null"), ("millis_to_utc(nope)", "MISSING"),
        ("millis_to_utc(1e300)", "null"),
    ])
    func dates(_ text: String, _ expected: String) throws { #expect(try Self.value(text) == expected) }

    @Test func pathsIntoMETA() throws {
        let fixture = try QueryFixture([#"{"a":1}"#, #"{"a":2}"#])
        let notes = try fixture.database.defaultCollection
        try fixture.database.write { try $0.delete("d1", in: notes) }
        for text in ["META().id", "(META()).id"] {
            #expect(try fixture.rows("SELECT \(text) FROM _") == ["\"d0\""])
        }
        #expect(try fixture.rows(json: #"{"WHAT": [["_.", ["META()"], ".id"]]}"#) == ["\"d0\""])
    }
}
