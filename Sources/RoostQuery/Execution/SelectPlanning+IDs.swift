import RoostOrder

extension SelectPlanning {
    /// Reads fewer documents where a condition speaks of their IDs.
    func narrow(
        _ access: DocumentAccess, _ condition: Expression, _ source: Int, _ notes: inout SourceNotes
    ) {
        if case .collate(let options, let inner) = condition {
            try? compiler.collating(options) { () throws(QueryError) in
                narrow(access, inner, source, &notes)
            }
            return
        }
        guard compiler.collation == .binary else { return }
        let before = access.bounds
        switch condition {
        case .comparison(let comparison, let left, let right):
            guard (try? compiler.collation(ofOperands: left, right)) == .binary else { return }
            if isID(left, source) {
                narrow(access, comparison, right, source)
            } else if isID(right, source) {
                narrow(access, comparison.mirrored, left, source)
            }
        // Of IDs, which are texts, with a text this is the same.
        case .collation(let comparison, let left, let right):
            if case .literal(.string) = right, isID(left, source) {
                narrow(access, comparison, right, source)
            }
        case .call(.isAmong, let operands) where operands.count == 2:
            if isID(operands[0], source), access.ids == nil {
                access.ids = independent(operands[1], of: source, access)
            }
        case .call(.beginsWith, let operands) where operands.count == 2:
            if isID(operands[0], source), access.prefix == nil,
                case .literal(.string(let prefix)) = operands[1], !prefix.isEmpty
            {
                access.prefix = prefix
            }
        case .membership(let value, let list, isNegated: false):
            if isID(value, source), access.ids == nil,
                (try? compiler.collation(ofOperands: value, list)) == .binary
            {
                access.ids = independent(list, of: source, access)
            }
        case .like(let value, .literal(.string(let pattern)), isNegated: false):
            if isID(value, source), access.prefix == nil { access.prefix = Self.literalPrefix(pattern) }
        default: return
        }
        if access.bounds != before { notes.access.append(condition.sqlText) }
    }

    private func narrow(
        _ access: DocumentAccess, _ comparison: Comparison, _ expression: Expression, _ source: Int
    ) {
        guard comparison != .unequal, let value = independent(expression, of: source, access) else {
            return
        }
        switch comparison {
        case .equal: if access.ids == nil { access.ids = value }
        case .less, .lessOrEqual:
            if access.upper == nil {
                access.upper = .init(value: value, isIncluded: comparison == .lessOrEqual)
            }
        default:
            if access.lower == nil {
                access.lower = .init(value: value, isIncluded: comparison == .greaterOrEqual)
            }
        }
    }

    /// Whether an expression is the ID of a source's document.
    func isID(_ expression: Expression, _ source: Int) -> Bool {
        switch expression {
        case .meta(.id, let alias, let place): (try? compiler.source(alias, place)) == source
        case .path:
            compiler.sourcePath(expression).map {
                $0.source == source && $0.steps == [.key("_id")]
                    && compiler.sourceKinds[source] == .collection
            } ?? false
        default: false
        }
    }

    /// The value of an expression that does not depend on the row of a source, nor on those that come after it; `nil` for
    /// others.
    private func independent(
        _ expression: Expression, of source: Int, _ access: DocumentAccess
    ) -> Evaluation? {
        guard let compiled = compiled(expression), compiled.sources.allSatisfy({ $0 < source }) else {
            return nil
        }
        if !compiled.sources.isEmpty { access.dependsOnRows = true }
        return compiled.value
    }

    /// An expression's value and the sources that it refers to; `nil` for one that can't be compiled, which the caller will
    /// find out when it is.
    func compiled(_ expression: Expression) -> (value: Evaluation, sources: Set<Int>)? {
        let found = try? compiler.tracking { () throws(QueryError) in try compiler.compile(expression) }
        return found.map { ($0.result, $0.sources) }
    }

    /// What texts begin with that are like a pattern; `nil` when it can be anything.
    static func literalPrefix(_ pattern: String) -> String? {
        var prefix = ""
        var characters = pattern.unicodeScalars.makeIterator()
        while let character = characters.next(), character != "%", character != "_" {
            if character == "\\", let escaped = characters.next() {
                prefix.unicodeScalars.append(escaped)
            } else {
                prefix.unicodeScalars.append(character)
            }
        }
        return prefix.isEmpty ? nil : prefix
    }
}
