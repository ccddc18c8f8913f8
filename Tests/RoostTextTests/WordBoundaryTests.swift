import Foundation
import RoostBytes
import Testing

@testable import RoostText

/// Boundaries of words, by Unicode's own cases.
@Suite struct WordBoundaryTests {
    /// Lines of WordBreakTest.txt (Unicode 15): boundaries as ÷, and characters in hexadecimal.
    private static let sample = """
        ÷ 0001 ÷ 0001 ÷
        ÷ 000D × 000A ÷ 0308 ÷ 0041 ÷
        ÷ 0020 × 0308 ÷ 0041 ÷
        ÷ 0041 × 003A × 0308 × 0041 ÷
        ÷ 0061 × 0300 × 0062 ÷
        ÷ 0031 × 002E × 0031 ÷
        ÷ 0061 ÷ 002C ÷ 0061 ÷
        ÷ 05D0 × 0027 ÷
        ÷ 05D0 × 0022 × 05D0 ÷
        ÷ 05D0 ÷ 0022 ÷ 0061 ÷
        ÷ 3031 × 3031 ÷ 0020 ÷
        ÷ 0061 ÷ 1F1E6 × 1F1E7 ÷ 1F1E8 ÷ 0062 ÷
        ÷ 1F1E6 × 1F1E7 × 200D ÷ 1F1E8 ÷ 0062 ÷
        ÷ 1F476 × 1F3FF ÷ 1F476 ÷
        ÷ 1F6D1 × 200D × 1F6D1 ÷
        ÷ 0061 × 200D × 1F6D1 ÷
        ÷ 0061 ÷ 0020 × 0020 ÷ 0062 ÷
        ÷ 0061 × 0031 × 005F × 0061 ÷ 002C ÷ 002C ÷ 0061 ÷
        ÷ 0031 ÷ 003A ÷ 0031 ÷
        ÷ 2060 ÷ 0061 ÷ 0024 ÷ 002D ÷ 0033 × 0034 × 002C × 0035 × 0036 × 0037 × 002E × 0031 × 0034 ÷ 0025 ÷ 0062 ÷
        """

    @Test func theSampleOfUnicodesCases() { check(Self.sample) }

    @Test func allOfUnicodesCasesWhereTheSystemHasThem() throws {
        let path = "/usr/share/unicode/auxiliary/WordBreakTest.txt"
        guard FileManager.default.fileExists(atPath: path) else { return }
        check(try String(contentsOfFile: path, encoding: .utf8))
    }

    private func check(_ cases: String) {
        var count = 0
        for line in cases.split(separator: "\n") {
            let fields = line.prefix { $0 != "#" }.split(separator: " ")
            guard fields.count > 1 else { continue }
            var text: [UInt8] = []
            var expected: [Int] = []
            for field in fields.map({ $0.trimmingCharacters(in: .whitespaces) }) {
                switch field {
                case "÷": expected.append(text.count)
                case "×", "": break
                default: appendUTF8(UInt32(field, radix: 16)!, to: &text)
                }
            }
            var found = [0]
            text.withView { view in
                let boundaries = WordBoundaries(scanner: UTF8Scanner(bytes: view))
                while let last = found.last, last < view.count {
                    found.append(boundaries.segment(from: last).end)
                }
            }
            #expect(found == expected, "\(line)")
            count += 1
        }
        #expect(count >= 20)
    }
}
