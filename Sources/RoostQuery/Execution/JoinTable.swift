import Roost

/// The rows of a source for each row that they are joined to: looked up by an index, until reading all of them into a table
/// would have taken less. So neither many nor few rows before make it slow.
final class JoinTable {
    /// What looking up has cost until now.
    private var spent = 0.0
    private(set) var table: HashTable?

    func rows(
        _ source: SourcePlan, _ hash: HashJoin, _ execution: Execution
    ) throws(DatabaseError) -> RowSource {
        if table == nil, let choice = try execution.decide(source).choice,
            case .documents(let collection, _) = source.origin
        {
            spent += choice.cost
            let most = try execution.tableCost(source)
            if spent < most {
                return try execution.rows(choice, try execution.documents(of: collection), source)
            }
        }
        let known: HashTable
        if let table {
            known = table
        } else {
            known = try HashTable(try execution.tableRows(source), source, hash, execution)
            table = known
        }
        return try HashedRows(execution.frame, known, hash)
    }
}

extension Execution {
    /// The rows of a source that match the present rows of those before.
    func joined(_ source: SourcePlan, by hash: HashJoin) throws(DatabaseError) -> RowSource {
        if let known = joinTables[source.number] { return try known.rows(source, hash, self) }
        let table = JoinTable()
        joinTables[source.number] = table
        return try table.rows(source, hash, self)
    }

    /// Whether a table of a source's rows was made.
    func hasTable(_ source: SourcePlan) -> Bool { joinTables[source.number]?.table != nil }

    /// The rows of a source of which a table is made.
    func tableRows(_ source: SourcePlan) throws(DatabaseError) -> RowSource {
        switch source.origin {
        case .elements(let value): return ElementRows(frame, source.number, value)
        case .select(let plan): return try QueryRows(frame, source.number, plan, self)
        case .documents(let collection, let access):
            if let choice = try decideTable(source).choice {
                return try rows(choice, try documents(of: collection), source)
            }
            return try open(collection, access, source.number)
        }
    }

    /// How the rows of a source are found of which a table is made.
    func decideTable(_ source: SourcePlan) throws(DatabaseError) -> AccessDecision {
        try decide(source, forTable: true)
    }

    /// What it takes to make a table of a source's rows, in millionths of a second, about.
    func tableCost(_ source: SourcePlan) throws(DatabaseError) -> Double {
        guard case .documents(let collection, _) = source.origin else { return .infinity }
        let (choice, total) = (try decideTable(source).choice, try documents(of: collection).count)
        let count = choice?.count ?? total
        return (choice?.cost ?? Double(count) * Cost.scanned) + Double(count) * Cost.kept
    }

    // MARK: The order of sources

    /// Another order is taken only if it is expected to take less than this part of the time: estimates err.
    private static let worthwhile = 0.5

    /// The order of the sources of a query that takes least.
    func cheapestOrder(of plan: QueryPlan) throws(DatabaseError) -> [SourcePlan] {
        guard plan.orders.count > 1 else { return plan.sources }
        var (best, least) = (plan.sources, try cost(of: plan.sources) * Self.worthwhile)
        for other in plan.orders.dropFirst() {
            let cost = try cost(of: other)
            if cost < least { (best, least) = (other, cost) }
        }
        return best
    }

    /// What reading the rows of all sources takes, in millionths of a second, about.
    private func cost(of sources: [SourcePlan]) throws(DatabaseError) -> Double {
        var (rows, cost) = (1.0, 0.0)
        for (number, source) in sources.enumerated() {
            guard case .documents(let collection, let access) = source.origin else { continue }
            let total = Double(try documents(of: collection).count)
            var found = total
            if access.ids != nil {
                found = 1
                cost += rows * Cost.lookedUp
            } else if number == 0 {
                let choice = try decide(source).choice
                if let choice { found = Double(choice.count) }
                cost += choice?.cost ?? total * Cost.scanned
            } else {
                // How many rows of an index have a value that isn't known yet is a guess.
                let isNarrowed = source.indexes.contains(where: \.keys.isNarrowed)
                if isNarrowed || source.hash != nil { found = min(total, Self.usualMatches) }
                let probing = isNarrowed ? rows * (1 + found * Cost.lookedUp) : rows * total * Cost.scanned
                let table = source.hash == nil ? .infinity : try tableCost(source) + rows * Cost.kept
                cost += min(probing, table)
            }
            rows *= found
            // As many as meet one more condition.
            if source.filters.count > 0 { rows = max(1, rows / 4) }
        }
        return cost
    }

    /// So many rows of a source match a value, where it isn't known how many.
    private static let usualMatches = 10.0
}
