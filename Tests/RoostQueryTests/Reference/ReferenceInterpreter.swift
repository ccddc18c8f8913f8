import Roost

/// Four truth values, straight from the definition.
enum ReferenceTruth {
    case yes, no, null, missing
}

/// How values are ordered, straight from the definition.
enum ReferenceOrder {
    static func rank(_ value: DocumentValue?) -> Int {
        switch value {
        case nil: 0
        case .null?: 1
        case .bool?: 2
        case .integer?, .unsigned?, .double?: 3
        case .string?: 4
        case .array?: 5
        case .dictionary?: 6
        default: 7
        }
    }

    static func number(_ value: DocumentValue?) -> Double? {
        switch value {
        case .integer(let number)?: Double(number)
        case .double(let number)?: number
        default: nil
        }
    }

    static func compare(_ a: DocumentValue?, _ b: DocumentValue?, caseless: Bool = false) -> Int {
        guard rank(a) == rank(b) else { return rank(a) - rank(b) }
        switch (a, b) {
        case (.bool(let a)?, .bool(let b)?): return (a ? 1 : 0) - (b ? 1 : 0)
        case (.string(let a)?, .string(let b)?):
            let left = Array((caseless ? a.lowercased() : a).utf8),
                right = Array((caseless ? b.lowercased() : b).utf8)
            return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        case (.array(let a)?, .array(let b)?):
            for (left, right) in zip(a, b) {
                let order = compare(left, right, caseless: caseless)
                if order != 0 { return order }
            }
            return a.count - b.count
        default:
            guard let left = number(a), let right = number(b) else { return 0 }
            return left < right ? -1 : left > right ? 1 : 0
        }
    }

    /// A name that equal values share.
    static func name(_ value: DocumentValue?) -> String {
        if let number = number(value) { return "number \(number)" }
        return value.map { "\($0)" } ?? "missing"
    }
}

/// A value in a condition.
indirect enum ReferenceValue {
    case property(String)
    case literal(DocumentValue)
    case sum(ReferenceValue, ReferenceValue)
    case lower(ReferenceValue)

    func value(_ document: DocumentValue) -> DocumentValue? {
        switch self {
        case .property(let name): return document[name]
        case .literal(let value): return value
        case .sum(let left, let right):
            let (left, right) = (left.value(document), right.value(document))
            guard let left, let right else { return nil }
            if case .integer(let a) = left, case .integer(let b) = right { return .integer(a + b) }
            guard let a = ReferenceOrder.number(left), let b = ReferenceOrder.number(right) else {
                return .null
            }
            return .double(a + b)
        case .lower(let inner):
            guard let value = inner.value(document) else { return nil }
            guard case .string(let text) = value else { return .null }
            return .string(text.lowercased())
        }
    }

    var sql: String {
        switch self {
        case .property(let name): name
        case .literal(.string(let text)): "'\(text)'"
        case .literal(let value): "\(value)"
        case .sum(let left, let right): "(\(left.sql) + \(right.sql))"
        case .lower(let inner): "lower(\(inner.sql))"
        }
    }

    var json: String {
        switch self {
        case .property(let name): "[\".\(name)\"]"
        case .literal(.array(let values)): "[\"[]\"\(values.map { ",\($0)" }.joined())]"
        case .literal(let value): "\(value)"
        case .sum(let left, let right): "[\"+\",\(left.json),\(right.json)]"
        case .lower(let inner): "[\"lower()\",\(inner.json)]"
        }
    }
}

/// A condition, interpreted straight from the definition.
indirect enum ReferenceCondition {
    case compare(String, ReferenceValue, ReferenceValue, caseless: Bool)
    case all([ReferenceCondition])
    case any([ReferenceCondition])
    case not(ReferenceCondition)
    case isNull(ReferenceValue)
    case isMissing(ReferenceValue)
    case isIn(ReferenceValue, [DocumentValue])
    case anyElement(String, String, DocumentValue)

    private static func holds(_ sign: String, _ order: Int) -> Bool {
        switch sign {
        case "=": order == 0
        case "!=": order != 0
        case "<": order < 0
        case "<=": order <= 0
        case ">": order > 0
        default: order >= 0
        }
    }

    func truth(_ document: DocumentValue) -> ReferenceTruth {
        switch self {
        case .compare(let sign, let left, let right, let caseless):
            let (left, right) = (left.value(document), right.value(document))
            guard let left, let right else { return .missing }
            guard !left.isNull, !right.isNull else { return .null }
            return Self.holds(sign, ReferenceOrder.compare(left, right, caseless: caseless)) ? .yes : .no
        case .all(let parts):
            let truths = parts.map { $0.truth(document) }
            return truths.contains(.no)
                ? .no : truths.contains(.missing) ? .missing : truths.contains(.null) ? .null : .yes
        case .any(let parts):
            let truths = parts.map { $0.truth(document) }
            return truths.contains(.yes)
                ? .yes : truths.contains(.null) ? .null : truths.contains(.missing) ? .missing : .no
        case .not(let inner):
            let truth = inner.truth(document)
            return truth == .yes ? .no : truth == .no ? .yes : truth
        case .isNull(let value): return value.value(document) == .some(.null) ? .yes : .no
        case .isMissing(let value): return value.value(document) == nil ? .yes : .no
        case .isIn(let value, let list):
            guard let value = value.value(document) else { return .missing }
            guard !value.isNull else { return .null }
            return list.contains { ReferenceOrder.compare(value, $0) == 0 } ? .yes : .no
        case .anyElement(let list, let sign, let wanted):
            guard let value = document[list] else { return .missing }
            guard case .array(let elements) = value else { return .null }
            return elements.contains {
                !$0.isNull && !wanted.isNull && Self.holds(sign, ReferenceOrder.compare($0, wanted))
            }
                ? .yes : .no
        }
    }

    var sql: String {
        switch self {
        case .compare(let sign, let left, let right, let caseless):
            "(\(left.sql) \(sign) \(right.sql)\(caseless ? " COLLATE NOCASE" : ""))"
        case .all(let parts): "(\(parts.map(\.sql).joined(separator: " AND ")))"
        case .any(let parts): "(\(parts.map(\.sql).joined(separator: " OR ")))"
        case .not(let inner): "(NOT \(inner.sql))"
        case .isNull(let value): "(\(value.sql) IS NULL)"
        case .isMissing(let value): "(\(value.sql) IS MISSING)"
        case .isIn(let value, let list):
            "(\(value.sql) IN (\(list.map { ReferenceValue.literal($0).sql }.joined(separator: ", "))))"
        case .anyElement(let list, let sign, let value):
            "(ANY x IN \(list) SATISFIES x \(sign) \(ReferenceValue.literal(value).sql) END)"
        }
    }

    var json: String {
        switch self {
        case .compare(let sign, let left, let right, let caseless):
            caseless
                ? "[\"COLLATE\",{\"CASE\":false},[\"\(sign)\",\(left.json),\(right.json)]]"
                : "[\"\(sign)\",\(left.json),\(right.json)]"
        case .all(let parts): "[\"AND\",\(parts.map(\.json).joined(separator: ","))]"
        case .any(let parts): "[\"OR\",\(parts.map(\.json).joined(separator: ","))]"
        case .not(let inner): "[\"NOT\",\(inner.json)]"
        case .isNull(let value): "[\"IS\",\(value.json),null]"
        case .isMissing(let value): "[\"IS\",\(value.json),[\"MISSING\"]]"
        case .isIn(let value, let list):
            "[\"IN\",\(value.json),[\"[]\"\(list.map { ",\(ReferenceValue.literal($0).json)" }.joined())]]"
        case .anyElement(let list, let sign, let value):
            "[\"ANY\",\"x\",[\".\(list)\"],[\"\(sign)\",[\"?x\"],\(ReferenceValue.literal(value).json)]]"
        }
    }
}

/// Makes random documents and conditions from a seed (SplitMix64, Steele, Lea and Flood 2014).
struct QueryGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func number(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    private mutating func pick<T>(_ values: [T]) -> T { values[number(values.count)] }

    mutating func scalar() -> DocumentValue {
        switch number(9) {
        case 0: .null
        case 1: .bool(number(2) == 0)
        case 2, 3, 4: .integer(Int64(number(8)) - 3)
        case 5: .double(Double(number(16)) / 2 - 3)
        case 6: pick([.string("x"), .string("X"), .string("abc"), .string("ABD"), .string("")])
        case 7: .array((0..<number(3)).map { _ in .integer(Int64(number(4))) })
        default: .string("s\(number(5))")
        }
    }

    mutating func document() -> DocumentValue {
        var document: DocumentValue = [:]
        for name in ["a", "b", "c"] where number(6) > 0 { document[name] = scalar() }
        if number(4) > 0 { document["list"] = .array((0..<number(4)).map { _ in scalar() }) }
        if number(10) == 0 { document["list"] = scalar() }
        return document
    }

    private mutating func value() -> ReferenceValue {
        switch number(8) {
        case 0: .sum(.property("a"), .property("b"))
        case 1: .lower(.property("c"))
        case 2: .literal(scalar())
        default: .property(pick(["a", "b", "c"]))
        }
    }

    mutating func condition(depth: Int) -> ReferenceCondition {
        switch number(depth > 0 ? 10 : 7) {
        case 0: .isNull(value())
        case 1: .isMissing(.property(pick(["a", "b", "c"])))
        case 2: .isIn(value(), (0..<(1 + number(7))).map { _ in scalar() })
        case 3: .anyElement("list", pick(["=", "<", ">="]), scalar())
        case 4:
            .compare(
                pick(["=", "<", ">", "!="]), .property("c"), .literal(.string(pick(["x", "ABC", "s2"]))),
                caseless: true)
        case 5, 6:
            .compare(pick(["=", "!=", "<", "<=", ">", ">="]), value(), .literal(scalar()), caseless: false)
        case 7: .not(condition(depth: depth - 1))
        case 8: .any((0..<(2 + number(2))).map { _ in condition(depth: depth - 1) })
        default: .all((0..<(2 + number(2))).map { _ in condition(depth: depth - 1) })
        }
    }
}
