import Roost

/// How a query is executed, in words.
///
/// ```text
/// SCAN notes, 50,000 to read
///   NOT USED by-title: no condition says what title is
///   WHERE stars > 3
/// SORT by stars DESC, keeping the first 10
/// ```
public struct Explanation: Sendable, CustomStringConvertible {
    /// A step, the outermost first.
    public struct Step: Sendable, Hashable {
        /// What is done: `SCAN`, `SEARCH`, `QUERY`, each also after `JOIN` or `LEFT JOIN`, `UNNEST`, `GROUP`, `FILTER`,
        /// `DISTINCT`, `SORT`, `ORDER`, `SKIP`, `LIMIT`, `COUNT`; below a source `WHERE`, `ON`, and `NOT USED` for an index, with
        /// the reason.
        public let operation: String
        /// To what, and how.
        public let details: String
        /// How many documents or rows of indexes are read for it, or would be, where that is known without reading them.
        public let estimate: Int?
        /// The index that is searched, the first of several; `nil` where none is.
        public let index: String?
        /// All indexes of values that are searched.
        package let indexes: [String]
        /// How many rows came out of it, if the query was run.
        public let rows: Int?
        /// How deep it stands within other queries, from 0.
        public let depth: Int

        init(
            _ operation: String, _ details: String, estimate: Int? = nil, index: String? = nil,
            indexes: [String] = [], rows: Int? = nil, depth: Int
        ) {
            self.operation = operation
            self.details = details
            self.estimate = estimate
            self.index = index
            self.indexes = indexes
            self.rows = rows
            self.depth = depth
        }
    }

    /// What is done, in order.
    public let steps: [Step]
    /// What it took, if the query was run for it.
    public let analysis: Analysis?

    /// What running a query took.
    public struct Analysis: Sendable, Hashable {
        /// The rows of the answer.
        public let rows: Int
        /// The documents read.
        public let documents: Int
        /// The rows of indexes read.
        public let indexRows: Int
        /// The time.
        public let duration: Duration
    }

    /// The steps, a line each, indented by their depth.
    public var description: String {
        var lines = steps.map { step in
            String(repeating: "  ", count: step.depth) + "\(step.operation) \(step.details)"
                + (step.operation == "NOT USED"
                    ? "" : step.estimate.map { ", \(Self.grouped($0)) to read" } ?? "")
                + (step.rows.map { ", \(Self.grouped($0)) found" } ?? "")
        }
        if let analysis {
            lines.append(
                "\(Self.count(analysis.rows, "row")) from \(Self.count(analysis.documents, "document"))"
                    + (analysis.indexRows > 0
                        ? " and \(Self.count(analysis.indexRows, "row")) of indexes" : "")
                    + " in \(Self.text(of: analysis.duration))")
        }
        return lines.joined(separator: "\n")
    }

    /// The plan in JSON: an object of `steps`, each with `operation`, `details`, `depth` and, where they are known, `estimate` and
    /// `rows`; and of `analysis` with `rows`, `documents`, `indexRows` and `milliseconds`, if the query was run.
    public var json: String {
        var object: DocumentValue = [
            "steps": .array(
                steps.map { step in
                    var value: DocumentValue = [
                        "operation": .string(step.operation), "details": .string(step.details),
                        "depth": .integer(Int64(step.depth)),
                    ]
                    value["estimate"] = step.estimate.map { .integer(Int64($0)) }
                    value["rows"] = step.rows.map { .integer(Int64($0)) }
                    return value
                })
        ]
        object["analysis"] = analysis.map { analysis in
            [
                "rows": .integer(Int64(analysis.rows)), "documents": .integer(Int64(analysis.documents)),
                "indexRows": .integer(Int64(analysis.indexRows)),
                "milliseconds": .double(analysis.duration / .milliseconds(1)),
            ]
        }
        guard let text = try? object.json() else { preconditionFailure("numbers and texts can be written") }
        return text
    }

    /// The number and the word for one of the things, with an s for any other number.
    private static func count(_ number: Int, _ one: String) -> String {
        "\(grouped(number)) \(number == 1 ? one : one + "s")"
    }

    /// A time in seconds, or in milliseconds if it is less than one.
    package static func text(of duration: Duration) -> String {
        let (unit, name): (Duration, String) =
            duration < .seconds(1) ? (.milliseconds(1), "ms") : (.seconds(1), "s")
        return "\((duration / unit * 10).rounded() / 10) \(name)"
    }

    /// The digits of a number, with commas between thousands.
    package static func grouped(_ number: Int) -> String {
        var digits = Array(String(number))
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: index)
            index -= 3
        }
        return String(digits)
    }
}

extension Query {
    /// How the query would be executed now; nothing of it is.
    public func explain() throws(DatabaseError) -> Explanation { try explanation(running: false) }

    /// Executes the query, and tells how and what it took.
    public func explainAnalyze() throws(DatabaseError) -> Explanation { try explainAnalyze { false } }

    /// As ``explainAnalyze()``, until `isCancelled` says that nobody wants to know any more; it is asked now and then.
    package func explainAnalyze(isCancelled: @escaping () -> Bool) throws(DatabaseError) -> Explanation {
        try explanation(running: true, isCancelled)
    }

    private func explanation(
        running: Bool, _ isCancelled: @escaping () -> Bool = { false }
    ) throws(DatabaseError) -> Explanation {
        let (snapshot, moment) = try database.present { QueryMoment() }
        let prepared = try prepared.planned(in: snapshot, moment, database)
        let execution = try Execution(
            Frame(prepared.program), parameters, database, snapshot, moment, options, isCancelled: isCancelled
        )
        var analysis: Explanation.Analysis?
        if running {
            let counter = execution.counter
            counter.countRows(ofSources: prepared.program.sourceCount)
            let start = ContinuousClock.now
            let cursor = try execution.cursor(of: prepared.plan)
            while try cursor.next() != nil { counter.rows += 1 }
            analysis = Explanation.Analysis(
                rows: counter.rows, documents: counter.documents, indexRows: counter.entries,
                duration: ContinuousClock.now - start)
        }
        var explainer = Explainer(execution)
        try explainer.add(prepared.plan)
        return Explanation(steps: explainer.steps, analysis: analysis)
    }
}

/// Puts a plan into words.
private struct Explainer {
    let execution: Execution
    private(set) var steps: [Explanation.Step] = []
    private var depth = 0

    init(_ execution: Execution) { self.execution = execution }

    mutating func add(_ plan: QueryPlan) throws(DatabaseError) {
        let query = plan.query
        let strategy = try execution.strategy(of: plan)
        if case .documents(let collection) = plan.counted {
            note("COUNT", "\(collection.queryName), which is known")
        } else if case .found(let search) = plan.counted {
            note(
                "COUNT", "\(search.collection.queryName) USING \(search.description), without documents",
                index: search.index.description.name)
        } else if let totals = strategy.known as? TotalsCursor {
            add(totals, plan)
        } else {
            for (index, source) in strategy.sources.enumerated() {
                let decision = index == 0 ? strategy.decision : try execution.decide(source)
                try add(source, index, decision, threads: index == 0 ? strategy.threads : 1)
            }
            if let groups = query.groups {
                let how = strategy.streamsGroups ? ", one after the other, as they are read" : ""
                note(
                    "GROUP", groups.keys.isEmpty ? "all rows into one" : "by \(list(groups.keys))\(how)")
            }
        }
        if let having = query.having { note("FILTER", "groups with \(having.text)") }
        if plan.isDistinct { note("DISTINCT", "rows") }
        if !plan.order.isEmpty {
            let order = plan.order.map { $0.text + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
            if strategy.isSorted {
                let kept =
                    strategy.most < .max ? ", keeping the first \(Explanation.grouped(strategy.most))" : ""
                note("SORT", "by \(order)\(kept)")
            } else {
                note("ORDER", "by \(order), as they are read")
            }
        }
        if let offset = query.offset {
            note("SKIP", offset.text + (strategy.skipsByRank ? " by rank, unread" : ""))
        }
        if let limit = query.limit { note("LIMIT", limit.text) }
    }

    private mutating func add(_ totals: TotalsCursor, _ plan: QueryPlan) {
        guard let source = plan.sources.first else { return }
        let groups = plan.query.groups?.keys ?? []
        note(
            "SEARCH", "\(source.name) USING \(totals.choice.text)", estimate: 0,
            index: totals.choice.access.index.description.name)
        let how =
            groups.isEmpty
            ? "all rows into one" : "by \(list(groups)), going from one to the next"
        note("GROUP", "\(how), from what the index has counted and summed up")
    }

    private func list(_ keys: [BoundGroups.Key]) -> String {
        keys.map(\.written.sqlText).joined(separator: ", ")
    }

    private mutating func add(
        _ source: SourcePlan, _ index: Int, _ decision: AccessDecision, threads: Int
    ) throws(DatabaseError) {
        let name = source.name
        let join = index == 0 ? "" : source.join == .left ? "LEFT JOIN " : "JOIN "
        let rows = execution.counter.rows(of: source.number)
        var used: [String] = []
        switch source.origin {
        case .elements: note("UNNEST", name, rows: rows)
        case .select(let plan):
            note(join + "QUERY", name + tableText(source), rows: rows)
            depth += 1
            try add(plan)
            depth -= 1
        case .documents(let collection, let access):
            let count = try execution.documents(of: collection).count
            let isTable = source.hash != nil && (decision.choice == nil || execution.hasTable(source))
            let choice = isTable ? try execution.decideTable(source).choice : decision.choice
            used = choice?.indexes.map(\.access.index.description.name) ?? []
            let how = isTable ? tableText(source) : threads > 1 ? " on \(threads) threads" : ""
            // How many rows match one of a source before isn't known without that.
            let isKnown = index == 0 || isTable
            if let choice {
                let otherwise = !isTable && !counts ? source.hash.map { ", or a table by \($0.text)" } : nil
                note(
                    join + "SEARCH", "\(name) USING \(text(choice))\(how)\(otherwise ?? "")",
                    estimate: isKnown ? choice.count : nil, index: choice.indexName, indexes: used, rows: rows
                )
            } else if access.isScan {
                note(join + "SCAN", name + how, estimate: isKnown ? count : nil, rows: rows)
            } else {
                let conditions = access.keys.conditions.joined(separator: " AND ")
                note(join + "SEARCH", "\(name) by ID (\(conditions))\(how)", rows: rows)
            }
        }
        depth += 1
        let unused = source.unusedIndexes.map { ($0.name, $0.reason, Int?.none) }
        for (name, reason, count) in decision.rejected + unused where !used.contains(name) {
            note("NOT USED", "\(name): \(reason)", estimate: count)
        }
        for condition in source.on { note("ON", condition.text) }
        for condition in source.filters { note("WHERE", condition.text) }
        depth -= 1
    }

    /// Whether the query was run, so that it is known what was done.
    private var counts: Bool { execution.counter.countsRows }

    private func tableText(_ source: SourcePlan) -> String {
        source.hash.map { " into a table by \($0.text)" } ?? ""
    }

    private func text(_ choice: AccessChoice) -> String {
        switch choice.way {
        case .index(let index): text(index)
        case .union(let branches): branches.map { text($0.choice) }.joined(separator: " OR ")
        case .both(let first, let second): "\(text(first)) AND \(text(second))"
        case .grams(let search, _): "\(search.name) (\(search.text))"
        case .search(let search, let best):
            search.description + (best.map { ", the best \(Explanation.grouped($0))" } ?? "")
        }
    }

    private func text(_ choice: IndexChoice) -> String {
        let access = choice.access
        let skipping =
            access.keys.skipped > 0 ? " SKIPPING through \(access.index.columns[0].text)" : ""
        return choice.text + skipping + (access.covering == nil ? "" : " COVERING")
    }

    private mutating func note(
        _ operation: String, _ details: String, estimate: Int? = nil, index: String? = nil,
        indexes: [String] = [], rows: Int? = nil
    ) {
        steps.append(
            Explanation.Step(
                operation, details, estimate: estimate, index: index, indexes: indexes, rows: rows,
                depth: depth))
    }
}
