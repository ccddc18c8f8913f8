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
