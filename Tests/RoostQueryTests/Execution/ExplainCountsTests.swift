import Roost
import Testing

@testable import RoostQuery

/// `explain` shows the plan that is executed, and `explain analyze` what its operators did: held against the work of random queries.
@Suite struct ExplainCountsTests {
    private static let indexes = [
        ValueIndex("a", on: "a"), ValueIndex("ab", on: "a, b DESC", including: "c"),
        ValueIndex("ba", on: "b, a", summing: "a, b"),
        ValueIndex("c", on: "c COLLATE NOCASE", including: "a"),
        ValueIndex("list", unnesting: "list"), ValueIndex("part", on: "b", where: "a > 0"),
    ]

    @Test(arguments: 0..<4 as Range<UInt64>)
    func stepsAreWhatWasDone(seed: UInt64) throws {
        var random = QueryGenerator(seed: seed &+ 9000)
        let fixture = try QueryFixture((0..<150).map { _ in random.document().description })
        let collection = try fixture.database.defaultCollection
        for index in Self.indexes where random.number(3) > 0 {
            try collection.createIndex(
                index.name, on: index.columns, including: index.including, summing: index.summing,
                where: index.condition, unnesting: index.unnesting)
        }
        for _ in 0..<150 {
            let text = random.query()
            let query = try fixture.database.query(text)
            let plan = try query.explain()
            let ran = try query.explainAnalyze()
            #expect(ran.steps.map(Self.shape) == plan.steps.map(Self.shape), "\(text)")
            let rows = try query.fetch().count
            let analysis = try #require(ran.analysis)
            #expect(analysis.rows == rows, "\(text)")
            check(text, ran, analysis, rows)
        }
    }

    /// A step without the rows that it had.
    private static func shape(_ step: Explanation.Step) -> String {
        "\(step.depth) \(step.operation) \(step.details) \(step.estimate ?? -1) \(step.index ?? "")"
    }

    /// Holds the first step, and the rows that it had, against the documents and the rows of indexes that were read.
    private func check(_ text: String, _ plan: Explanation, _ analysis: Explanation.Analysis, _ rows: Int) {
        guard let first = plan.steps.first, let estimate = first.estimate else { return }
        let isWhole = !text.contains("LIMIT")
        switch first.operation {
        case "SCAN":
            #expect(analysis.indexRows == 0, "\(text)\n\(plan)")
            #expect(
                isWhole ? analysis.documents == estimate : analysis.documents <= estimate, "\(text)\n\(plan)")
        case "SEARCH" where plan.steps.contains { $0.details.contains("from what the index has counted") }:
            #expect(analysis.documents == 0 && first.rows == nil, "\(text)\n\(plan)")
        case "SEARCH":
            // Whether groups are gone through one by one is decided by the first of them.
            let sampled = plan.steps.contains { $0.operation == "GROUP" } ? 16 : 0
            let isExact = isWhole && !first.details.contains(") AND ")
            #expect(analysis.indexRows <= estimate + sampled, "\(text)\n\(plan)")
            if isExact { #expect(analysis.indexRows >= estimate, "\(text)\n\(plan)") }
            let isCovering = first.details.contains("COVERING") && !first.details.contains(" OR ")
            #expect(isCovering ? analysis.documents == 0 : analysis.documents <= estimate, "\(text)\n\(plan)")
        default: Issue.record("\(first.operation) in \(text)")
        }
        let isGrouped = plan.steps.contains { ["GROUP", "DISTINCT"].contains($0.operation) }
        if isWhole, !isGrouped { #expect(first.rows == rows, "\(text)\n\(plan)") }
    }

    @Test func operatorsOfAJoinCountTheirRows() throws {
        let fixture = try QueryFixture()
        try fixture.fill("c", (0..<20).map { #"{"n":\#($0)}"# })
        try fixture.fill("o", (0..<60).map { #"{"c":\#($0 % 30),"x":\#($0)}"# })
        let query = try fixture.database.query("SELECT c.n, o.x FROM o JOIN c ON o.c = c.n WHERE o.x < 40")
        let plan = try query.explainAnalyze()
        #expect(plan.steps.filter { $0.operation.hasSuffix("SCAN") }.map(\.rows) == [40, 30], "\(plan)")
        #expect(plan.analysis?.documents == 80)
    }

    /// Rows of a query in FROM are counted by the operators within it.
    @Test func operatorsOfAQueryInFromAreShown() throws {
        let fixture = try QueryFixture((0..<10).map { #"{"n":\#($0)}"# })
        let query = try fixture.database.query(
            "SELECT t.n FROM (SELECT n FROM _ WHERE n > 2) AS t WHERE t.n < 5")
        let steps = try query.explainAnalyze().steps
        #expect(steps.map(\.operation) == ["QUERY", "SCAN", "WHERE", "WHERE"])
        #expect(steps[0].rows == 2 && steps[1].rows == 7 && steps[1].depth == 1)
    }
}

// MARK: - Cost tests

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
        // Conditions that the index does not answer may omit many.
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
