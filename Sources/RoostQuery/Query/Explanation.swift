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
        /// `WINDOW`, `DISTINCT`, `SORT`, `ORDER`, `SKIP`, `LIMIT`, `COUNT`; below a source `WHERE`, `ON`, and `NOT USED` for an index, with
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
        /// Whether the index has all that is requested, so that no document is read.
        package let isCovering: Bool
        /// How many rows came out of it, if the query was run.
        public internal(set) var rows: Int?
        /// How deep it stands within other queries, from 0.
        public let depth: Int

        /// What the estimate counts, where it is not documents or rows of one index.
        fileprivate var readsIndexes: String { indexes.count > 1 ? " rows of indexes" : "" }

        init(
            _ operation: String, _ details: String, estimate: Int? = nil, index: String? = nil,
            indexes: [String] = [], isCovering: Bool = false, rows: Int? = nil, depth: Int
        ) {
            self.operation = operation
            self.details = details
            self.estimate = estimate
            self.index = index
            self.indexes = indexes
            self.isCovering = isCovering
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
                    ? "" : step.estimate.map { ", \(Self.grouped($0))\(step.readsIndexes) to read" } ?? "")
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

extension DatabaseQuery {
    /// How the query would be executed now; nothing of it is.
    public func explain() throws(DatabaseError) -> Explanation { try explanation(running: false) }

    /// Executes the query, and describes how and what it took.
    public func explainAnalyze() throws(DatabaseError) -> Explanation { try explainAnalyze { false } }

    /// As ``explainAnalyze()``, until `isCancelled` says that the caller no longer wants to know any more; it is asked now and then.
    package func explainAnalyze(isCancelled: @escaping () -> Bool) throws(DatabaseError) -> Explanation {
        try explanation(running: true, isCancelled)
    }

    private func explanation(
        running: Bool, _ isCancelled: @escaping () -> Bool = { false }
    ) throws(DatabaseError) -> Explanation {
        let (snapshot, moment) = try database.present { SnapshotReaders() }
        let prepared = try prepared.planned(in: snapshot, moment, database)
        if running { try checkParameters() }
        let execution = try Execution(
            Frame(prepared.program), parameters, database, snapshot, moment, options, isCancelled: isCancelled
        )
        let plan = try execution.choose(prepared.plan)
        var writer = PlanWriter()
        guard running else {
            plan.explain(&writer)
            return Explanation(steps: writer.steps, analysis: nil)
        }
        let counter = execution.counter
        let start = ContinuousClock.now
        let rows = try plan.makeRows(execution)
        try rows.open()
        while try rows.nextRow() != nil { counter.rows += 1 }
        let duration = ContinuousClock.now - start
        rows.explain(&writer)
        return Explanation(
            steps: writer.steps,
            analysis: Explanation.Analysis(
                rows: counter.rows, documents: counter.documents, indexRows: counter.entries,
                duration: duration))
    }
}
