import Roost

/// What the fields of a column of a CSV file become.
enum ColumnType: String {
    case text, number, bool
    /// JSON text, of any kind.
    case json

    /// What makes a value of a field that has this type; `nil` where it can't be one.
    func json(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        switch self {
        case .text: return nil
        case .number: return FieldText.isNumber(field) ? field : nil
        case .json:
            return (try? DocumentValue(json: String(decoding: field, as: UTF8.self))).map { _ in field }
        case .bool:
            if field.elementsEqual("true".utf8) || field.elementsEqual("1".utf8) {
                return Array("true".utf8)[...]
            }
            if field.elementsEqual("false".utf8) || field.elementsEqual("0".utf8) {
                return Array("false".utf8)[...]
            }
            return nil
        }
    }
}

/// Finds the type of a column from all of its fields.
///
/// It is `bool` where every field is `true` or `false`, `number` where every one is a number that loses nothing by becoming one, and
/// `text` otherwise: a code or a date among numbers, or a field in quotation marks, makes text of them all. Empty fields say nothing.
struct ColumnTypeFinder {
    private var mayBeNumber = true
    private var mayBeBool = true
    private var hasFields = false

    /// Whether no further field can make a difference.
    var isSettled: Bool { !mayBeNumber && !mayBeBool }

    var type: ColumnType {
        guard hasFields else { return .text }
        return mayBeBool ? .bool : mayBeNumber ? .number : .text
    }

    /// Takes the next field into account, as it is in the file.
    mutating func add(_ field: ArraySlice<UInt8>, isQuoted: Bool) {
        guard !field.isEmpty, !isSettled else { return }
        hasFields = true
        if mayBeNumber { mayBeNumber = !isQuoted && FieldText.isLosslessNumber(field) }
        if mayBeBool { mayBeBool = !isQuoted && FieldText.isBool(field) }
    }
}

/// What the text of a field looks like.
enum FieldText {
    /// Doubles keep as many digits of any number.
    private static let mostDigits = 15

    static func isBool(_ text: ArraySlice<UInt8>) -> Bool {
        text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8)
    }

    /// Whether `text` is a number as RFC 8259 writes it.
    static func isNumber(_ text: ArraySlice<UInt8>) -> Bool { parts(of: text) != nil }

    /// Whether `text` is a number that loses nothing by becoming one: of at most 15 digits, and no code that looks like one, as
    /// 1e2641 and 655e38 do. Programs that write exponents give them a sign, or the number a point.
    static func isLosslessNumber(_ text: ArraySlice<UInt8>) -> Bool {
        guard let parts = parts(of: text), parts.digits <= mostDigits else { return false }
        guard parts.hasExponent else { return true }
        guard parts.hasPoint || parts.hasSignedExponent,
            let value = Double(String(decoding: text, as: UTF8.self))
        else { return false }
        return value.isFinite && (value != 0 || parts.isZero)
    }

    private struct Parts {
        var digits = 0
        var isZero = true
        var hasPoint = false
        var hasExponent = false
        var hasSignedExponent = false
    }

    /// The parts of a number; `nil` for what is none.
    private static func parts(of text: ArraySlice<UInt8>) -> Parts? {
        var parts = Parts()
        var place = text.startIndex
        func next() -> UInt8 { place < text.endIndex ? text[place] : 0 }
        func takeDigits() -> Int {
            let start = place
            while next() &- UInt8(ascii: "0") < 10 {
                if text[place] != UInt8(ascii: "0") { parts.isZero = false }
                place += 1
            }
            return place - start
        }
        if next() == UInt8(ascii: "-") { place += 1 }
        let startsWithZero = next() == UInt8(ascii: "0")
        parts.digits = takeDigits()
        guard parts.digits == 1 || parts.digits > 0 && !startsWithZero else { return nil }
        if next() == UInt8(ascii: ".") {
            place += 1
            parts.hasPoint = true
            let fraction = takeDigits()
            guard fraction > 0 else { return nil }
            parts.digits += fraction
        }
        if next() | 0x20 == UInt8(ascii: "e") {
            let isZero = parts.isZero
            place += 1
            parts.hasExponent = true
            if next() == UInt8(ascii: "-") || next() == UInt8(ascii: "+") {
                place += 1
                parts.hasSignedExponent = true
            }
            guard takeDigits() > 0 else { return nil }
            parts.isZero = isZero
        }
        return place == text.endIndex ? parts : nil
    }
}
