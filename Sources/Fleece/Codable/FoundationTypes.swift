import RoostBytes

// The one file that knows Foundation's types.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ValueEncoder {
    /// The item for a `Date`, `Data` or `URL`; `nil` for any other type.
    func foundationItem<T: Encodable>(for value: T, at path: @autoclosure () -> CodingPath) throws -> Item? {
        if T.self == Date.self, let date = value as? Date {
            return try item(forDate: date.timeIntervalSince1970, at: path())
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
        return nil
    }

    private func item(forDate seconds: Double, at path: @autoclosure () -> CodingPath) throws -> Item {
        switch state.dateStrategy {
        case .secondsSince1970: return try item(for: seconds, at: path())
        case .millisecondsSince1970: return try item(for: seconds * 1000, at: path())
        case .iso8601:
            guard let text = ISO8601.text(secondsSince1970: seconds) else {
                let description = "Dates are stored for the years 0 to 9999."
                throw EncodingError.invalidValue(
                    seconds, .init(codingPath: path().keys, debugDescription: description))
            }
            return item(for: text)
        }
    }
}

extension ValueDecoder {
    /// The value as a `Date`, `Data` or `URL`; `nil` for any other type.
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
        return nil
    }

    private func date() throws -> Date {
        if let text = value.string {
            guard let seconds = ISO8601.secondsSince1970(text.utf8) else {
                throw corrupted("\(value) is not a date in ISO 8601.")
            }
            return Date(timeIntervalSince1970: seconds)
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
        string.flatMap { ISO8601.secondsSince1970($0.utf8) }.map(Date.init(timeIntervalSince1970:))
    }
}

extension FleeceWriter {
    /// Writes a date as a string in ISO 8601, in UTC and with milliseconds.
    ///
    /// A date before the year 0 or after 9999 makes ``finish()`` throw.
    public mutating func write(_ date: Date) {
        if let text = ISO8601.text(secondsSince1970: date.timeIntervalSince1970) {
            write(text)
        } else {
            fail(.unrepresentableNumber, "Dates are stored for the years 0 to 9999.")
        }
    }
}
