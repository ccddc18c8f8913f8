import Testing

@testable import RoostQuery

/// Which segments of a full-text index are merged.
@Suite struct SegmentChoiceTests {
    private func state(_ counts: [Int], dead: [Int: Int] = [:]) -> TextState {
        var state = TextState()
        for (index, count) in counts.enumerated() {
            let documents = state.next..<state.next + count
            state.segments.append(
                TextState.Segment(
                    number: UInt32(index), documents: documents, count: count, dead: dead[index] ?? 0))
            state.next += count
        }
        return state
    }

    @Test func eightOfASizeBecomeOne() {
        #expect(state(Array(repeating: 200, count: 7)).merge == nil)
        #expect(state(Array(repeating: 200, count: 8)).merge == 0..<8)
    }

    @Test func aLargeOneIsNotWrittenAgainForAFewSmallOnes() {
        #expect(state([1_000_000] + Array(repeating: 200, count: 7)).merge == nil)
        #expect(state([1_000_000] + Array(repeating: 200, count: 8)).merge == 1..<9)
        #expect(state([1_000_000, 100_000, 20_000, 3_000, 400, 50, 6, 1]).merge == nil)
    }

    @Test func smallerOnesAmongThemAreTakenAlong() {
        let counts =
            [1_000_000] + Array(repeating: 2_000, count: 4) + [3, 70] + Array(repeating: 2_000, count: 4) + [
                5
            ]
        #expect(state(counts).merge == 1..<12)
    }

    @Test func whatIsDeadIsWrittenNoMore() {
        #expect(state([1_000, 1_000], dead: [1: 199]).merge == nil)
        #expect(state([1_000, 1_000], dead: [1: 200]).merge == 1..<2)
    }

    /// Each posting is written about once for each level, whatever the order of sizes.
    @Test func mergingWritesInProportion() {
        var state = TextState()
        var (written, added) = (0, 0)
        for round in 0..<4_000 {
            let count = 1 + round * 7_919 % 300
            added += count
            state.segments.append(
                TextState.Segment(
                    number: 0, documents: state.next..<state.next + count, count: count, dead: 0))
            state.next += count
            while let range = state.merge {
                let merged = state.segments[range].reduce(0) { $0 + $1.count }
                written += merged
                let documents =
                    state.segments[range.lowerBound].documents
                    .lowerBound..<state.segments[range.upperBound - 1]
                    .documents.upperBound
                state.segments.replaceSubrange(
                    range, with: [TextState.Segment(number: 0, documents: documents, count: merged, dead: 0)])
            }
            #expect(state.segments.count <= 7 * 8)
        }
        #expect(written <= added * 8, "\(written) for \(added)")
        #expect(state.segments.reduce(0) { $0 + $1.count } == added)
    }
}
