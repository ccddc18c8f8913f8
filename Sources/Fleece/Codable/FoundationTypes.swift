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
