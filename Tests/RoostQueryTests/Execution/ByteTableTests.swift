import RoostBytes
import Testing

@testable import RoostQuery

struct ByteTableTests {
    @Test func numbersStringsInTheOrderInWhichTheyCame() {
        var table = ByteTable()
        let strings = (0..<5_000).map { Array("string \($0 * 7 % 5_000)".utf8) }
        for (number, string) in strings.enumerated() {
            #expect(string.withView { table.number(of: $0) } == nil)
            let (found, isNew) = string.withView { table.insert($0) }
            #expect(found == number && isNew)
        }
        for (number, string) in strings.enumerated() {
            let (found, isNew) = string.withView { table.insert($0) }
            #expect(found == number && !isNew)
            #expect(Array(table[number]) == string)
        }
        #expect(table.count == 5_000 && !table.hasSecretHashes)
        #expect(
            table.sorted().map { Array(table[$0]) } == strings.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// Strings whose eight first bytes are those of XXH3's secret are multiplied by zero: their second eight don't count.
    @Test func takesHashesThatNobodyForeseesOnceStringsWereMadeToHaveTheSame() {
        let secret: [UInt8] = [0xB8, 0xFE, 0x6C, 0x39, 0x23, 0xA4, 0x4B, 0xBE]
        let strings = (0..<4_000).map { number in
            secret + (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
                + [UInt8](repeating: 7, count: 16)
        }
        #expect(Set(strings.map { string in string.withView { XXH3.hash($0) } }).count == 1)
        var table = ByteTable()
        for string in strings { _ = string.withView { table.insert($0) } }
        #expect(table.hasSecretHashes)
        for (number, string) in strings.enumerated() {
            #expect(string.withView { table.number(of: $0) } == number)
        }
    }
}
