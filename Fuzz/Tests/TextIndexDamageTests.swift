import RoostSimulation
import Testing

/// Entries of full-text indexes that are changed at random, beyond the kept inputs.
@Suite struct TextIndexDamageTests {
    @Test("Searches and merges end whatever the entries are", arguments: 0..<6)
    func everyAnswerEnds(part: UInt64) throws {
        var generator = SeededGenerator(seed: part)
        for _ in 0..<16 {
            var input: [UInt8] = []
            for _ in 0...generator.next(below: 4) {
                let length = generator.next(below: 7)
                input += [
                    UInt8(generator.next(below: 12)), UInt8(generator.next(below: 256)),
                    UInt8(generator.next(below: generator.next(below: 4) == 0 ? 256 : 12)), UInt8(length),
                ]
                let telling: [UInt8] = [0, 1, 2, 0x7F, 0x80, 0xFF]
                input += (0..<length).map { _ in
                    generator.next(below: 2) == 0
                        ? telling[generator.next(below: telling.count)] : UInt8(generator.next(below: 256))
                }
            }
            #expect(throws: Never.self, "\(input)") { try FuzzTarget.textIndex.run(input) }
        }
    }
}
