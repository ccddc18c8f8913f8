import Fleece
import Roost
import RoostBytes
import RoostOrder

extension Compiler {
    // MARK: Comparing

    /// A comparison; of a path with a constant in one piece.
    func comparison(
        _ comparison: Comparison, _ left: BoundExpression, _ right: BoundExpression, _ collation: Collation
    ) throws(QueryError) -> Evaluation {
        switch (left, right) {
        case (.path(let source, let steps), .literal(let value)) where !steps.isEmpty && !value.isNull:
            return fused(comparison, program.path(source, steps), try constant(value), collation)
        case (.literal(let value), .path(let source, let steps)) where !steps.isEmpty && !value.isNull:
            return fused(comparison.mirrored, program.path(source, steps), try constant(value), collation)
        default:
            let (left, right) = (try compile(left), try compile(right))
            return { frame in Comparisons.compare(left(frame), right(frame), comparison, collation) }
        }
    }

    private func fused(
        _ comparison: Comparison, _ path: Int, _ constant: Constant, _ collation: Collation
    ) -> Evaluation {
        if case .integer(let limit) = constant.value {
            return { frame in
                let value = frame.value(ofPath: path)
                if case .integer(let value) = value {
                    return .bool(comparison.holds(value < limit ? -1 : value > limit ? 1 : 0))
                }
                return Comparisons.compare(value, .integer(limit), comparison, collation)
            }
        }
        return { frame in
            Comparisons.compare(frame.value(ofPath: path), constant.value, comparison, collation)
        }
    }

    func membership(
        _ value: BoundExpression, _ list: BoundExpression, _ collation: Collation, _ isNegated: Bool
    ) throws(QueryError) -> Evaluation {
        let value = try compile(value)
        // Constants are looked up, not gone through.
        if case .array(let items) = list, items.count > 4, let set = try ConstantSet(items, collation, self) {
            return { frame in
                let value = value(frame)
                guard value.isValued else { return value }
                return .bool(set.contains(value) != isNegated)
            }
        }
        let list = try compile(list)
        return { frame in Comparisons.membership(value(frame), list(frame), collation, isNegated) }
    }

    // MARK: Collections

    static func array(_ values: [Evaluation]) -> Evaluation {
        { frame in frame.array(values.map { $0(frame) }) }
    }

    func dictionary(_ pairs: [BoundExpression.Pair]) throws(QueryError) -> Evaluation {
        var members: [(name: String, value: Evaluation)] = []
        for pair in pairs { members.append((pair.name.text, try compile(pair.value))) }
        return { [members] frame in
            // What a member computes may need the writer's place in the arena, so all of them come first.
            let values = members.map { $0.value(frame) }
            return frame.collection { writer in
                writer.beginDictionary()
                for (member, value) in zip(members, values) where !value.isMissing {
                    writer.key(member.name)
                    writer.write(value)
                }
                writer.endDictionary()
            }
        }
    }

    // MARK: CASE

    func choice(
        _ base: BoundExpression?, _ branches: [BoundExpression.Branch], _ otherwise: BoundExpression?,
        _ collation: Collation
    ) throws(QueryError) -> Evaluation {
        let base = try base.map { (value) throws(QueryError) in try compile(value) }
        let otherwise = try otherwise.map { (value) throws(QueryError) in try compile(value) }
        var compiled: [(condition: Evaluation, value: Evaluation)] = []
        for branch in branches { compiled.append((try compile(branch.condition), try compile(branch.value))) }
        return { [compiled] frame in
            let subject = base?(frame)
            for branch in compiled {
                let condition = branch.condition(frame)
                let holds =
                    subject.map { Comparisons.compare($0, condition, .equal, collation).isTrue }
                    ?? Logic.holds(condition)
                if holds { return branch.value(frame) }
            }
            return otherwise?(frame) ?? .null
        }
    }
}

/// Constants among which a value is looked for.
struct ConstantSet: Sendable {
    private let keys: Set<[UInt8]>
    private let collation: Collation

    /// `nil` unless all items are literals with a value.
    init?(_ items: [BoundExpression], _ collation: Collation, _ compiler: Compiler) throws(QueryError) {
        let encoder = KeyEncoder(collation)
        var keys: Set<[UInt8]> = []
        for item in items {
            guard case .literal(let value) = item else { return nil }
            if value.isNull { continue }
            encoder.reset()
            encoder.append(try compiler.constant(value).value)
            keys.insert(encoder.key)
        }
        self.keys = keys
        self.collation = collation
    }

    func contains(_ value: Value) -> Bool {
        let encoder = KeyEncoder(collation)
        encoder.append(value)
        return keys.contains(encoder.key)
    }
}
