import Testing

@testable import RoostStorage

@Suite struct KeySpansTests {
    @Test func neighboursJoinAndKeysAreFound() {
        var spans = KeySpans()
        spans.add(KeySpan(lower: [5], upper: [6]))
        spans.add(KeySpan(lower: [1], upper: [2]))
        spans.add(KeySpan(lower: [2], upper: [3]))
        spans.add(KeySpan(lower: [6], upper: nil), since: 9)
        #expect(
            spans.spans == [
                KeySpan(lower: [1], upper: [3]), KeySpan(lower: [5], upper: [6]),
                KeySpan(lower: [6], upper: nil),
            ])
        #expect(spans.part(of: [0]) == nil)
        #expect(spans.part(of: [2, 9])?.span == KeySpan(lower: [1], upper: [3]))
        #expect(spans.part(of: [3]) == nil)
        #expect(spans.part(of: [255])?.since == 9)
        #expect(
            spans.intersections(KeySpan(lower: [2], upper: [5, 1])).map(\.span) == [
                KeySpan(lower: [2], upper: [3]), KeySpan(lower: [5], upper: [5, 1]),
            ])
        #expect(spans.intersections(KeySpan(lower: [3], upper: [5])).isEmpty)
        spans.add(KeySpan(lower: [3], upper: [5]))
        #expect(spans.spans.count == 2)
    }
}
