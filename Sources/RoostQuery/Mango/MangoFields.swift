import Roost

/// What a selector says of fields, as far as it matters to CouchDB for the choice of an index.
struct MangoFields {
    /// Those that every document that matches has.
    private var required: Set<[String]> = []
    /// Those that are equal to one value.
    private var equal: Set<[String]> = []
    /// Those whose values are in a range.
    private var ranged: Set<[String]> = []

    init(_ selector: DocumentValue, _ path: [String] = []) { note(selector, path) }

    private mutating func note(_ condition: DocumentValue, _ path: [String]) {
        guard case .dictionary(let members) = condition, !members.isEmpty else {
            return note(.equal, path)
        }
        for (name, value) in members {
            switch name {
            case "$and": for item in value.array ?? [] { note(item, path) }
            case "$or":
                let parts = (value.array ?? []).map { MangoFields($0, path).required }
                if let first = parts.first { required.formUnion(parts.reduce(first) { $0.intersection($1) }) }
            case "$eq": note(.equal, path)
            case "$lt", "$lte", "$gt", "$gte", "$beginsWith": note(.range, path)
            case "$exists": if value == true { note(.presence, path) }
            case "$not", "$nor", "$text": break
            default:
                if name.hasPrefix("$") {
                    note(.presence, path)
                } else {
                    note(value, path + MangoViewCompiler.steps(name))
                }
            }
        }
    }

    private enum Kind { case equal, range, presence }

    private mutating func note(_ kind: Kind, _ path: [String]) {
        guard !path.isEmpty else { return }
        required.insert(path)
        switch kind {
        case .equal: equal.insert(path)
        case .range: ranged.insert(path)
        case .presence: break
        }
    }

    /// The fields by which an index goes on to order documents that match, where it has them in an order already; `nil` where it has
    /// not.
    func further(_ index: MangoIndex, after order: [[String]]) -> [String]? {
        var rest = index.fields[...]
        for field in order {
            // What is the same in all documents is in any order.
            while let name = rest.first?.name, case let other = MangoViewCompiler.steps(name), other != field,
                equal.contains(other)
            { rest.removeFirst() }
            if let name = rest.first?.name, MangoViewCompiler.steps(name) == field {
                rest.removeFirst()
            } else if !equal.contains(field) {
                return nil
            }
        }
        return rest.map(\.name)
    }

    /// The indexes that have all documents that match, the one first that CouchDB would take: of which the fewest fields are
    /// of no use, then the one of the fewest fields, then the first by name.
    ///
    /// - Parameter order: Fields that count as what every document has.
    func usable(_ indexes: [MangoIndex], sortedBy order: [[String]] = []) -> [MangoIndex] {
        let known = indexes.compactMap { index -> (index: MangoIndex, useless: Int)? in
            let fields = index.fields.map { MangoViewCompiler.steps($0.name) }
            let isUsable = fields.allSatisfy {
                required.contains($0) || $0 == ["_id"] || $0 == ["_rev"] || order.contains($0)
            }
            guard isUsable else { return nil }
            var used = fields.prefix { equal.contains($0) }.count
            if used < fields.count, ranged.contains(fields[used]) { used += 1 }
            return (index, fields.count - used)
        }
        return known.sorted {
            ($0.useless, $0.index.fields.count, $0.index.design, $0.index.name)
                < ($1.useless, $1.index.fields.count, $1.index.design, $1.index.name)
        }.map(\.index)
    }
}
