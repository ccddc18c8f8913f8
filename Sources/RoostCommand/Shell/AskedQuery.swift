import Roost
import RoostQuery

/// A query that was asked for on the command line or in the shell, and what is to be told of it.
struct AskedQuery {
    let query: DatabaseQuery
    /// Whether it reads files, and no collections.
    let isOfFiles: Bool
    private let explains: ExplainedQuery.Explains
    private let remark: String?

    /// - Parameters:
    ///   - collection: what `_` means.
    ///   - isCancelled: whether the caller no longer wants the answer.
    init(
        _ statement: ExplainedQuery, of collection: DocumentCollection, _ parameters: [String: DocumentValue],
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        let isDescription = statement.explains == .properties || statement.explains == .values
        let trimmed = statement.text.drop { $0.isWhitespace }
        // Where a collection is described a file stands alone.
        let isName = isDescription && trimmed.prefix(6).lowercased() != "select"
        let files = try FileTables(isName ? "FROM \(trimmed)" : statement.text)
        isOfFiles = files != nil
        let collection = files?.collection ?? collection
        let text = files.map { isName ? String($0.text.dropFirst(5)) : $0.text } ?? statement.text
        explains = statement.explains
        guard isDescription else {
            query = try collection.query(text, parameters: parameters)
            remark = nil
            return
        }
        let profile = try RowProfile(of: text, in: collection, parameters, isCancelled: isCancelled)
        query =
            try explains == .properties ? profile.description() : profile.summary(isCancelled: isCancelled)
        remark = profile.remark
    }

    /// Prints the rows, or what is to be told instead.
    func print(as mode: OutputMode, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
        switch explains {
        case .no, .properties, .values: try RowPrinter(mode: mode).print(query, isCancelled: isCancelled)
        case .plan: Console.print("\(try query.explain())")
        case .analysis: Console.print("\(try query.explainAnalyze(isCancelled: isCancelled))")
        }
        if let remark { Console.note(remark) }
    }
}
