import Testing

@testable import RoostQuery

/// What costs follow from: counts alone.
@Suite struct CostTests {
    private func index(
        _ count: Int, isCovering: Bool = false, answersAll: Bool = true, isOrdered: Bool = false,
        _ required: RequiredOrdering = RequiredOrdering()
    ) -> Double {
        Cost.index(
            count, ranges: 1, isCovering: isCovering, answersAll: answersAll, isOrdered: isOrdered,
            isGrouped: false, required)
    }

    private func scan(
        _ total: Int, matching: Int, _ required: RequiredOrdering = RequiredOrdering()
    ) -> Double {
        Cost.scan(of: total, matching: matching, isFiltered: true, required)
    }

    @Test func fewRowsOfAnIndexTakeLessThanAllDocuments() {
        #expect(index(1_000) < scan(100_000, matching: 1_000))
        #expect(index(60_000) > scan(100_000, matching: 60_000))
        #expect(index(60_000, isCovering: true) < scan(100_000, matching: 60_000))
    }

    @Test func rowsInOrderEndEarly() {
        let first = RequiredOrdering(isSorted: true, most: 10)
        #expect(index(100_000, isOrdered: true, first) < scan(100_000, matching: 100_000, first))
        #expect(index(100_000, isOrdered: false, first) > scan(100_000, matching: 100_000, first))
        // Conditions that the index does not answer may leave out many.
        #expect(
            index(100_000, answersAll: false, isOrdered: true, first) > index(100_000, isOrdered: true, first)
        )
    }

    @Test func anIntersectionSavesLookups() {
        let both = Cost.intersection(5_000, 5_000, of: 100_000, isOrdered: false, RequiredOrdering())
        #expect(both < index(5_000))
        #expect(Cost.table(100, reading: nil) < Cost.lookups(100, RequiredOrdering()))
    }
}
