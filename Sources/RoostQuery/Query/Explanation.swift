import Roost

/// How a query is executed, in words.
///
/// ```text
/// SCAN notes, 50,000 documents
///   where stars > 3
/// SORT by stars DESC, keeping the first 10
/// ```
public struct Explanation: Sendable, CustomStringConvertible {
    /// A step, the outermost first.
    public struct Step: Sendable, Hashable {
        /// What is done: `SCAN`, `SEARCH`, `JOIN`, `UNNEST`, `QUERY`, `FILTER`, `GROUP`, `DISTINCT`, `SORT`, `LIMIT`, `COUNT`.
        public let operation: String
        /// To what, and how.
        public let details: String
        /// How many documents or rows are read for it, where that is known without reading them.
        public let estimate: Int?
        /// How deep it stands within other queries, from 0.
        public let depth: Int

        init(_ operation: String, _ details: String, estimate: Int? = nil, depth: Int) {
            self.operation = operation
            self.details = details
            self.estimate = estimate
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
        /// The time.
        public let duration: Duration
    }

    /// The steps, a line each, indented by their depth.
    public var description: String {
        var lines = steps.map { step in
            String(repeating: "  ", count: step.depth) + "\(step.operation) \(step.details)"
                + (step.estimate.map { ", \(Self.grouped($0)) to read" } ?? "")
        }
        if let analysis {
            let milliseconds = Double(analysis.duration / .microseconds(1)) / 1000
            lines.append(
                "\(Self.grouped(analysis.rows)) rows from \(Self.grouped(analysis.documents)) documents in "
                    + "\((milliseconds * 10).rounded() / 10) ms")
        }
        return lines.joined(separator: "\n")
    }

    private static func grouped(_ number: Int) -> String {
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
    public func explain() throws(DatabaseError) -> Explanation {
        let snapshot = try database.snapshot()
        let prepared = try prepared.current(database)
        let execution = try Execution(
            prepared.program, parameters, database, snapshot, memoryLimit: options.memoryLimit)
        var explainer = Explainer(execution)
        try explainer.add(prepared.plan, prepared.select)
        return Explanation(steps: explainer.steps, analysis: nil)
    }

    /// Executes the query, and tells how and what it took.
    public func explainAnalyze() throws(DatabaseError) -> Explanation {
        let explanation = try explain()
        let clock = ContinuousClock()
        let start = clock.now
        let cursor = try cursor()
        var rows = 0
        while try cursor.skip() { rows += 1 }
        let analysis = Explanation.Analysis(
            rows: rows, documents: cursor.documentsRead, duration: clock.now - start)
        return Explanation(steps: explanation.steps, analysis: analysis)
    }
}

/// Puts a plan into words.
private struct Explainer {
    let execution: Execution
    private(set) var steps: [Explanation.Step] = []
    private var depth = 0

    init(_ execution: Execution) { self.execution = execution }

    mutating func add(_ plan: SelectPlan, _ select: Select) throws(DatabaseError) {
        if let collection = plan.countedCollection {
            note("COUNT", "\(collection.queryName), which is known")
            return
        }
        let limit = plan.limit.flatMap { $0(execution.frame).wholeNumber }.map { Int($0) }
        let choice = try plan.sources.first.flatMap { (source) throws(DatabaseError) in
            try execution.choice(
                for: source, isSorted: !plan.order.isEmpty && plan.grouping == nil, wanted: limit ?? .max,
                isCount: plan.isCount)
        }
        for (index, source) in plan.sources.enumerated() {
            try add(source, index, select, index == 0 ? choice : try execution.choice(for: source))
        }
        if plan.isCount, choice?.access.isExact == true {
            note("COUNT", "the rows of the index")
            return
        }
        if !select.groups.isEmpty {
            note("GROUP", "by \(select.groups.map(\.sqlText).joined(separator: ", "))")
        } else if plan.grouping != nil {
            note("GROUP", "all rows into one")
        }
        if let having = select.having { note("FILTER", "groups with \(having.sqlText)") }
        if plan.isDistinct { note("DISTINCT", "rows") }
        if !plan.order.isEmpty {
            let order = plan.order.map { $0.text + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
            if plan.isOrdered || choice?.access.isOrdered == true {
                note("ORDER", "by \(order), as they are read")
            } else {
                note("SORT", "by \(order)" + (select.limit.map { ", keeping the first \($0.sqlText)" } ?? ""))
            }
        }
        if let offset = select.offset { note("SKIP", offset.sqlText) }
        if let limit = select.limit { note("LIMIT", limit.sqlText) }
    }

    private mutating func add(
        _ source: SourcePlan, _ index: Int, _ select: Select, _ choice: IndexChoice?
    ) throws(DatabaseError) {
        let name =
            source.alias == source.notes.name ? source.alias : "\(source.notes.name) AS \(source.alias)"
        let join = index == 0 ? "" : source.join == .left ? "LEFT JOIN " : "JOIN "
        switch source.origin {
        case .elements: note("UNNEST", name)
        case .select(let plan):
            note(join + "QUERY", name)
            depth += 1
            if index < select.sources.count, case .select(let inner) = select.sources[index].origin {
                try add(plan, inner)
            }
            depth -= 1
        case .documents(let collection, let access):
            let count = try execution.snapshot[collection].count
            if let choice {
                let access = choice.access
                let how = access.isNarrowed ? " (\(access.conditions.joined(separator: " AND ")))" : ""
                note(
                    join + "SEARCH", "\(name) USING \(access.index.description.name)\(how)",
                    estimate: choice.count)
            } else if access.isScan {
                let how = source.hash.map { " into a table by \($0.text)" } ?? ""
                note(join + "SCAN", name + how, estimate: index == 0 || source.hash != nil ? count : nil)
            } else {
                note(join + "SEARCH", "\(name) by ID (\(source.notes.access.joined(separator: " AND ")))")
            }
        }
        depth += 1
        for access in source.indexes where access.index.description != choice?.access.index.description {
            note("NOT USED", "\(access.index.description.name): it would not be faster")
        }
        for (name, reason) in source.unusedIndexes { note("NOT USED", "\(name): \(reason)") }
        if let condition = source.notes.on { note("ON", condition) }
        for condition in source.notes.conditions { note("WHERE", condition) }
        depth -= 1
    }

    private mutating func note(_ operation: String, _ details: String, estimate: Int? = nil) {
        steps.append(Explanation.Step(operation, details, estimate: estimate, depth: depth))
    }
}
