import Dispatch
import RoostSimulation
import Testing

@testable import RoostStorage

/// The numbers that chunks are bound to, which readers look up while others learn new ones.
@Suite struct WritingHistoryTests {
    private static let end = 64

    /// Compared with a table that has the number of each place.
    @Test(arguments: 1...40) func eachPlaceHasTheNumberThatItsTableGives(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let history = WritingHistory()
        var table = [UInt64](repeating: 0, count: Self.end)
        for number in 1...60 as ClosedRange<UInt64> {
            let start = generator.next(below: Self.end)
            if generator.chance(0.3) {
                history.begin(at: UInt64(start), number)
                for place in start..<Self.end { table[place] = number }
            } else {
                // One that is known is learned again, as it is when records are read twice.
                let known = generator.chance(0.2) ? table[start] : number
                history.note([WritingHistory.Entry(start: UInt64(start), number: known)])
                let old = table[start]
                for place in start..<Self.end where known != old {
                    guard table[place] == old else { break }
                    table[place] = known
                }
            }
            #expect((0..<Self.end).map { history.number(at: UInt64($0)) } == table)
        }
        let entries = history.entries
        #expect(entries.map(\.start) == Set(entries.map(\.start)).sorted())
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.number != $1.number })
    }

    @Test func entriesLearnedTogetherAreThoseLearnedOneByOne() {
        let entries = [(40, 4), (10, 1), (20, 1), (30, 3), (20, 2)].map {
            WritingHistory.Entry(start: $0, number: $1)
        }
        let (together, apart) = (WritingHistory(), WritingHistory())
        together.note(entries)
        for entry in entries { apart.note([entry]) }
        #expect(together.entries == apart.entries)
        #expect(together.entries.map(\.number) == [1, 2, 3, 4])
        // What begins before its neighbour with the same number takes its place.
        together.note([WritingHistory.Entry(start: 25, number: 3)])
        #expect(together.entries.map(\.start) == [10, 20, 25, 40])
    }

    /// A writer that fails again and again, or takes turns with another one, must not use up memory.
    @Test func givingUpAndLearningAnewStaysInPlace() {
        let history = WritingHistory()
        history.begin(at: 100, 1)
        for round in 1...1000 as ClosedRange<UInt64> {
            history.renew(at: 200)
            history.note([WritingHistory.Entry(start: 200, number: 10_000 + round)])
        }
        #expect(history.moves == 0)
        #expect(history.number(at: 150) == 1 && history.number(at: 250) == 11_000)
        for place in 3...1000 as ClosedRange<UInt64> { history.begin(at: 100 * place, place) }
        #expect(history.entries.count == 1000 && history.moves <= 10)
    }

    /// Readers who look for what stands behind it must not meet it halfway.
    @Test func whatIsLearnedInBetweenMovesTheEntriesToOtherMemory() {
        let history = WritingHistory()
        history.begin(at: 100, 1)
        history.begin(at: 200, 2)
        history.note([WritingHistory.Entry(start: 150, number: 3)])
        #expect(history.moves == 1)
        // One that takes its neighbour's place, so that those behind it would go forwards.
        history.note([WritingHistory.Entry(start: 100, number: 3)])
        #expect(history.moves == 2)
        #expect(history.entries.map(\.start) == [100, 200])
        history.note([WritingHistory.Entry(start: 300, number: 4)])
        #expect(history.moves == 2 && history.number(at: 300) == 4)
    }

    @Test func readersFindWhatWasThereWhileMoreIsLearned() {
        let history = WritingHistory()
        let places = 400 as UInt64
        // Every place keeps its number, while others come behind it, in between, and are given up at the end again.
        for place in stride(from: 0, to: places, by: 4) { history.begin(at: place, place + 1) }
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
            guard thread > 0 else {
                for round in 0..<200 as Range<UInt64> {
                    let place = round % 100 * 4
                    history.note([WritingHistory.Entry(start: place + 2, number: 1000 + round)])
                    history.begin(at: places + round % 7, 2000 + round)
                }
                return
            }
            for round in 0..<20_000 as Range<UInt64> {
                let place = round % 100 * 4
                if history.number(at: place) != place + 1 { Issue.record("another number at \(place)") }
            }
        }
    }
}
