import Fleece

/// A number that reductions compute with: whole for as long as it fits 64 bits.
enum ExactNumber {
    case whole(Int64)
    case double(Double)

    /// `nil` for what is no number.
    init?(_ value: FleeceValue) {
        switch value.kind {
        case .integer: self = value.int64.map(ExactNumber.whole) ?? .double(value.double ?? 0)
        case .double: self = .double(value.double ?? 0)
        default: return nil
        }
    }

    /// `nil` for what is no number.
    init?(_ node: FleeceNode) {
        switch node.content {
        case .integer(let number): self = .whole(number)
        case .unsigned(let number): self = .double(Double(number))
        case .double(let number): self = .double(number)
        default: return nil
        }
    }

    private var double: Double {
        switch self {
        case .whole(let number): Double(number)
        case .double(let number): number
        }
    }

    private static func computed(
        _ a: Self, _ b: Self, _ whole: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        _ double: (Double, Double) -> Double
    ) -> Self {
        if case .whole(let x) = a, case .whole(let y) = b {
            let (result, overflow) = whole(x, y)
            if !overflow { return .whole(result) }
        }
        return .double(double(a.double, b.double))
    }

    static func + (a: Self, b: Self) -> Self {
        computed(a, b, { $0.addingReportingOverflow($1) }, { $0 + $1 })
    }

    static func * (a: Self, b: Self) -> Self {
        computed(a, b, { $0.multipliedReportingOverflow(by: $1) }, { $0 * $1 })
    }

    static func < (a: Self, b: Self) -> Bool {
        if case .whole(let x) = a, case .whole(let y) = b { return x < y }
        return a.double < b.double
    }

    /// What exceeds a number of 64 bits is written as the greatest there is: infinity is no JSON.
    func write(to writer: inout FleeceWriter) {
        switch self {
        case .whole(let number): writer.write(number)
        case .double(let number):
            writer.write(
                number.isFinite ? number : number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
        }
    }
}
