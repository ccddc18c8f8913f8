import RoostBytes

// The one file that knows Foundation's types.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ValueEncoder {
    /// The item for a `Date`, `Data`, `URL` or `Decimal`; `nil` for any other type.
    func foundationItem<T: Encodable>(for value: T, at path: @autoclosure () -> CodingPath) throws -> Item? {
        if T.self == Date.self, let date = value as? Date {
            return try item(forDate: date, at: path())
        }
        if T.self == Data.self, let data = value as? Data {
            switch state.dataStrategy {
            case .data: return unsafe data.withUnsafeBytes { unsafe state.output.data($0) }
            case .base64: return item(for: data.base64EncodedString())
            }
        }
        if T.self == URL.self, let url = value as? URL {
            return item(for: url.absoluteString)
        }
        if T.self == Decimal.self, let decimal = value as? Decimal {
            return try item(forDecimal: decimal, at: path())
        }
        return nil
    }

    private func item(forDate date: Date, at path: @autoclosure () -> CodingPath) throws -> Item {
        switch state.dateStrategy {
        case .secondsSince1970: return try item(for: date.timeIntervalSince1970, at: path())
        case .millisecondsSince1970: return try item(for: date.timeIntervalSince1970 * 1000, at: path())
        case .iso8601:
            guard let text = date.iso8601 else {
                let description = "Dates are stored for the years 0 to 9999."
                // Not the date itself: one that is not finite can't be described.
                throw EncodingError.invalidValue(
                    date.timeIntervalSince1970, .init(codingPath: path().keys, debugDescription: description))
            }
            return item(for: text)
        }
    }

    private func item(forDecimal decimal: Decimal, at path: @autoclosure () -> CodingPath) throws -> Item {
        switch DecimalNumber(decimal) {
        case .integer(let value): return item(for: value)
        case .unsigned(let value): return item(for: value)
        case .double(let value): return try item(for: value, at: path())
        case .digits(let digits):
            let dictionary = ValueEncoder(state, path: path(), depth: depth + 1)
            dictionary.become(.dictionary)
            dictionary.append(key: DecimalKey.type, item(for: DecimalNumber.typeName))
            dictionary.append(key: DecimalKey.value, item(for: digits))
            return try dictionary.finish()
        case nil:
            throw EncodingError.invalidValue(
                decimal, .init(codingPath: path().keys, debugDescription: "JSON and Fleece have no NaN."))
        }
    }
}

/// The keys of a decimal that no number carries.
private enum DecimalKey: String, CodingKey {
    case type = "@type"
    case value
}

extension ValueDecoder {
    /// The value as a `Date`, `Data`, `URL` or `Decimal`; `nil` for any other type.
    func foundationValue<T: Decodable>(_ type: T.Type) throws -> T? {
        if type == Date.self { return try date() as? T }
        if type == Data.self {
            guard let data = value.data ?? value.string.flatMap({ Base64.decode($0.utf8) }) else {
                throw mismatch(Data.self)
            }
            return Data(data) as? T
        }
        if type == URL.self {
            guard let url = URL(string: try scalar(\.string)) else {
                throw corrupted("\(value) is not a URL.")
            }
            return url as? T
        }
        if type == Decimal.self {
            if let decimal = value.decimal { return decimal as? T }
            if value.kind == .string {
                throw corrupted("\(value) is not a decimal number of up to 38 digits.")
            }
            throw mismatch(Decimal.self)
        }
        return nil
    }

    private func date() throws -> Date {
        if let text = value.string {
            guard let date = Date(iso8601: text) else {
                throw corrupted("\(value) is not a date in ISO 8601.")
            }
            return date
        }
        switch dateStrategy {
        case .iso8601: throw mismatch(Date.self)
        case .secondsSince1970: return Date(timeIntervalSince1970: try scalar(\.double))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try scalar(\.double) / 1000)
        }
    }
}

extension FleeceValue {
    /// The date that a string in ISO 8601 stands for; `nil` for other strings and other kinds.
    public var date: Date? {
        string.flatMap { Date(iso8601: $0) }
    }
}

extension Date {
    /// The date that a text in ISO 8601 stands for; `nil` for other texts.
    package init?(iso8601 text: String) {
        guard let seconds = ISO8601.secondsSince2001(text.utf8) else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    /// The date as text in ISO 8601, from which the same date is read; `nil` outside of the years 0…9999.
    package var iso8601: String? { ISO8601.text(secondsSince2001: timeIntervalSinceReferenceDate) }
}

extension FleeceWriter {
    /// Writes a date as a string in ISO 8601; see ``FleeceDateStrategy/iso8601``.
    ///
    /// A date before the year 0 or after 9999 makes ``finish()`` throw.
    public mutating func write(_ date: Date) {
        if let text = date.iso8601 {
            write(text)
        } else {
            fail(.unrepresentableNumber, "Dates are stored for the years 0 to 9999.")
        }
    }
}

// MARK: - DecimalNumber

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The form in which a `Decimal` is stored: a number where a number carries it exactly, otherwise a dictionary with its digits.
///
/// A 64-bit integer carries whole numbers. A `Double` carries what has the same shortest decimal, which any of up to 15
/// digits has: 19.99 is stored as the number 19.99. More digits than that are kept as
/// `{"@type":"decimal","value":"0.12345678901234567890"}`, which queries take for a number. Earlier versions stored the digits
/// alone, as text, and they are read from it.
package enum DecimalNumber: Equatable, Sendable {
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case digits(String)

    /// The keys of the dictionary, in the order of their bytes, and what the first of them has.
    package static let (typeKey, valueKey, typeName) = ("@type", "value", "decimal")

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
            self = .digits(text)
        }
    }

    /// The decimal that is stored so; `nil` for text that is no number, and for one that a `Decimal` can't hold.
    package var decimal: Decimal? {
        switch self {
        case .integer(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .double(let value): Self.decimal(value)
        case .digits(let text): Self.decimal(text)
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
    /// The number, or the number that a text or a dictionary of a decimal's digits is, as a `Decimal`; `nil` for other values,
    /// and beyond the range of a `Decimal`.
    ///
    /// Of a floating-point number it is the shortest decimal that reads the same: 19.99 is 19.99.
    public var decimal: Decimal? {
        if let int64 { return Decimal(int64) }
        if let uint64 { return Decimal(uint64) }
        if let double { return DecimalNumber.double(double).decimal }
        return (string ?? decimalDigits).flatMap { DecimalNumber.digits($0).decimal }
    }

    /// The digits of a decimal that no number carries.
    private var decimalDigits: String? {
        guard let dictionary, dictionary.count == 2,
            dictionary[DecimalNumber.typeKey].string == DecimalNumber.typeName
        else { return nil }
        return dictionary[DecimalNumber.valueKey].string
    }
}

extension FleeceNode {
    /// The digits of a decimal that no number carries; `nil` for anything else.
    package var decimalDigits: ByteView? {
        guard elementCount == 2, let type = member(0), type.key.isText(DecimalNumber.typeKey),
            case .string(let name) = type.value.content, name.isText(DecimalNumber.typeName),
            let value = member(1), value.key.isText(DecimalNumber.valueKey),
            case .string(let digits) = value.value.content, digits.count <= Self.mostDecimalDigits
        else { return nil }
        return digits
    }

    /// A `Decimal` has up to 38 digits, and up to 127 zeros behind or before them.
    private static let mostDecimalDigits = 200

    /// The floating-point number that is nearest to a decimal that no number carries; `nil` for anything else.
    package var nearestToDecimal: Double? {
        guard let digits = decimalDigits, (0..<digits.count).allSatisfy({ Self.isNumeric(digits[$0]) }) else {
            return nil
        }
        let number = unsafe Double(String(decoding: digits.buffer, as: UTF8.self))
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        JSONText.isDigit(byte) || "-+.eE".utf8.contains(byte)
    }
}

extension ByteView {
    fileprivate func isText(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { unsafe compare(ByteView(UnsafeRawBufferPointer($0))) } == 0
    }
}
