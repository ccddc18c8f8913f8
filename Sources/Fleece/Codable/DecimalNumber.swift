#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The form in which a `Decimal` is stored: a number where a number carries it exactly, otherwise text.
///
/// A 64-bit integer carries whole numbers. A `Double` carries what has the same shortest decimal, which any of up to 15
/// digits has: 19.99 is stored as the number 19.99. More digits than that are kept as text, `"0.12345678901234567890"`.
package enum DecimalNumber: Equatable, Sendable {
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case text(String)

    /// The form of `decimal`; `nil` when it is not a number.
    package init?(_ decimal: Decimal) {
        guard !decimal.isNaN else { return nil }
        let text = decimal.description
        if let integer = Int64(text) {
            self = .integer(integer)
        } else if let integer = UInt64(text) {
            self = .unsigned(integer)
        } else if let double = Double(text), Self.decimal(double) == decimal {
            self = .double(double)
        } else {
            self = .text(text)
        }
    }

    /// The decimal that is stored so; `nil` for text that is no number, and for one that a `Decimal` can't hold.
    package var decimal: Decimal? {
        switch self {
        case .integer(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .double(let value): Self.decimal(value)
        case .text(let text): Self.decimal(text)
        }
    }

    /// The shortest decimal that reads as `double`.
    private static func decimal(_ double: Double) -> Decimal? { decimal("\(double)") }

    /// The number that a text in JSON's form is, sign, digits, point, digits and exponent; `nil` when it would have to be
    /// rounded.
    private static func decimal(_ text: String) -> Decimal? {
        var digits = 0
        var significant = 0
        var index = text.utf8.startIndex
        func next() -> UInt8? { index < text.utf8.endIndex ? text.utf8[index] : nil }
        func skip(_ characters: String) -> Bool {
            guard let byte = next(), characters.utf8.contains(byte) else { return false }
            index = text.utf8.index(after: index)
            return true
        }
        func skipDigits(counting: Bool) -> Bool {
            let start = index
            while let byte = next(), JSONText.isDigit(byte) {
                if counting, digits > 0 || byte != UInt8(ascii: "0") { digits += 1 }
                if counting, byte != UInt8(ascii: "0") { significant = digits }
                index = text.utf8.index(after: index)
            }
            return index != start
        }
        _ = skip("-")
        guard skipDigits(counting: true), !skip(".") || skipDigits(counting: true) else { return nil }
        if skip("eE") {
            _ = skip("+-")
            guard skipDigits(counting: false) else { return nil }
        }
        guard next() == nil, significant <= mostDigits else { return nil }
        return Decimal(string: text)
    }

    /// Any so many digits fit the 128 bits of a `Decimal`.
    private static let mostDigits = 38
}

extension FleeceValue {
    /// The number, or the number that a text is, as a `Decimal`; `nil` for other texts and other kinds, and beyond the
    /// range of a `Decimal`.
    ///
    /// Of a floating-point number it is the shortest decimal that reads the same: 19.99 is 19.99.
    public var decimal: Decimal? {
        if let int64 { return Decimal(int64) }
        if let uint64 { return Decimal(uint64) }
        if let double { return DecimalNumber.double(double).decimal }
        return string.flatMap { DecimalNumber.text($0).decimal }
    }
}
