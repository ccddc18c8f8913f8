import Foundation

/// Functions of numbers. Of anything else they yield null, and null where the result is not finite.
enum Numbers {
    static func evaluation(_ function: Function, _ values: [Evaluation]) -> Evaluation? {
        switch function {
        case .pi: { _ in .double(.pi) }
        case .e: { _ in .double(M_E) }
        case .abs: Arguments.one(values[0]) { value, _ in absolute(value) }
        case .sign: Arguments.one(values[0]) { value, _ in sign(value) }
        case .ceil: whole(values[0]) { $0.rounded(.up) }
        case .floor: whole(values[0]) { $0.rounded(.down) }
        case .round: rounded(values, .toNearestOrAwayFromZero)
        case .trunc: rounded(values, .towardZero)
        case .roundEven: rounded(values, .toNearestOrEven)
        case .atan2: ofTwo(values, Foundation.atan2)
        case .power: ofTwo(values, Foundation.pow)
        case .div: ofTwo(values, /)
        case .mod: Arguments.two(values) { a, b, _ in Arithmetics.remainder(a, b) }
        case .idiv:
            Arguments.two(values) { a, b, _ in cut(Arithmetics.divide(cut(a), cut(b))) }
        default: real(function).map { ofOne(values[0], $0) }
        }
    }

    private static func real(_ function: Function) -> (@Sendable (Double) -> Double)? {
        switch function {
        case .acos: { Foundation.acos($0) }
        case .asin: { Foundation.asin($0) }
        case .atan: { Foundation.atan($0) }
        case .cos: { Foundation.cos($0) }
        case .sin: { Foundation.sin($0) }
        case .tan: { Foundation.tan($0) }
        case .exp: { Foundation.exp($0) }
        case .ln: { Foundation.log($0) }
        case .log: { Foundation.log10($0) }
        case .log2: { Foundation.log2($0) }
        case .sqrt: { $0.squareRoot() }
        case .degrees: { $0 * 180 / .pi }
        case .radians: { $0 * .pi / 180 }
        default: nil
        }
    }

    private static func ofOne(_ value: @escaping Evaluation, _ body: @escaping @Sendable (Double) -> Double)
        -> Evaluation
    {
        Arguments.one(value) { value, _ in value.double.map { .number(body($0)) } ?? .null }
    }

    private static func ofTwo(
        _ values: [Evaluation], _ body: @escaping @Sendable (Double, Double) -> Double
    ) -> Evaluation {
        Arguments.two(values) { a, b, _ in
            guard let a = a.double, let b = b.double else { return .null }
            return .number(body(a, b))
        }
    }

    /// Integers stay as they are.
    private static func whole(_ value: @escaping Evaluation, _ body: @escaping @Sendable (Double) -> Double)
        -> Evaluation
    {
        Arguments.one(value) { value, _ in
            let value = value.computable
            if case .double(let number) = value { return .number(body(number)) }
            return value.double == nil ? .null : value
        }
    }

    /// An integer where the number is one that fits.
    private static func integral(_ number: Double) -> Value {
        Int64(exactly: number).map(Value.integer) ?? .number(number)
    }

    /// A number without its fraction.
    static func cut(_ value: Value) -> Value {
        let value = value.computable
        if case .double(let number) = value { return integral(number.rounded(.towardZero)) }
        return value
    }

    private static func absolute(_ value: Value) -> Value {
        switch value.computable {
        case .integer(let number): number == .min ? .unsigned(number.magnitude) : .integer(Swift.abs(number))
        case .unsigned: value
        case .double(let number): .double(Swift.abs(number))
        default: .null
        }
    }

    private static func sign(_ value: Value) -> Value {
        guard let number = value.double else { return .null }
        return .integer(number < 0 ? -1 : number > 0 ? 1 : 0)
    }

    /// round(x, n), round_even(x, n) and trunc(x, n): to n digits behind the point, or before it where n is negative.
    private static func rounded(_ values: [Evaluation], _ rule: FloatingPointRoundingRule) -> Evaluation {
        guard values.count == 2 else { return whole(values[0]) { $0.rounded(rule) } }
        return Arguments.two(values) { value, digits, _ in
            let value = value.computable
            guard let number = value.double, let digits = digits.double, Swift.abs(digits) <= 300 else {
                return .null
            }
            if digits >= 0, value.wholeNumber != nil { return value }
            let scale = Foundation.pow(10, Swift.abs(digits.rounded(.towardZero)))
            let result =
                digits >= 0 ? (number * scale).rounded(rule) / scale : (number / scale).rounded(rule) * scale
            // What has no digits there anyway overflows on the way.
            guard result.isFinite else { return value }
            if case .double = value { return .number(result) }
            return integral(result)
        }
    }
}

// MARK: - Java script

extension Double {
    /// The number as JavaScript's `String()` shows it: the fewest digits that lead back to it, without an exponent from 1e-6 up to
    /// 1e21 (ECMA-262, Number::toString).
    var javaScriptText: String {
        guard isFinite else { return isNaN ? "NaN" : self < 0 ? "-Infinity" : "Infinity" }
        guard self != 0 else { return "0" }
        // Swift finds the same digits, and differs in where it puts the point.
        let parts = magnitude.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        var digits = Array(mantissa[0].utf8) + Array(fraction.utf8)
        // The value is 0.DIGITS times ten to the power of `point`.
        var point = mantissa[0].utf8.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        let zero = UInt8(ascii: "0")
        let leading = digits.prefix { $0 == zero }.count
        digits.removeFirst(leading)
        point -= leading
        while digits.last == zero { digits.removeLast() }
        return (self < 0 ? "-" : "") + Self.text(String(decoding: digits, as: UTF8.self), point)
    }

    /// The number 0.DIGITS times ten to the power of `point`.
    private static func text(_ digits: String, _ point: Int) -> String {
        let count = digits.utf8.count
        if (count...21).contains(point) { return digits + String(repeating: "0", count: point - count) }
        if (1..<max(count, 1)).contains(point), point <= 21 {
            return "\(digits.prefix(point)).\(digits.dropFirst(point))"
        }
        if (-5...0).contains(point) { return "0." + String(repeating: "0", count: -point) + digits }
        let rest = digits.dropFirst()
        return
            "\(digits.prefix(1))\(rest.isEmpty ? "" : ".\(rest)")e\(point > 0 ? "+" : "-")\((point - 1).magnitude)"
    }
}
