import Testing

@testable import RoostQuery

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
