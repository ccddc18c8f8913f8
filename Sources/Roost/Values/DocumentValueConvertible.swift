import Fleece
import Foundation

/// A type whose values can be properties of a document.
///
/// ```swift
/// draft["title"] = title                          // of the type String, String?, Int, Date, [String], …
/// let seen: Date? = draft["seen"]
/// ```
///
/// The standard numbers, `Bool`, `String`, `Date`, `Data`, `URL`, `UUID`, `Decimal`, ``Blob``, and arrays and dictionaries of
/// such are. An enumeration with raw values only has to say so: `enum Size: String, DocumentValueConvertible { … }`. Values
/// take the form in which Codable types store them.
public protocol DocumentValueConvertible {
    /// The value that a property holds; `nil` when that is of another kind.
    init?(_ value: DocumentValue)

    /// The value as a property.
    var documentValue: DocumentValue { get }
}

extension RawRepresentable where Self: DocumentValueConvertible, RawValue: DocumentValueConvertible {
    /// The case with the raw value that a property holds.
    public init?(_ value: DocumentValue) {
        guard let rawValue = RawValue(value) else { return nil }
        self.init(rawValue: rawValue)
    }

    /// The raw value as a property.
    public var documentValue: DocumentValue { rawValue.documentValue }
}

extension DocumentValue: DocumentValueConvertible {
    /// The same value.
    public init?(_ value: DocumentValue) { self = value }

    /// The same value.
    public var documentValue: DocumentValue { self }
}

extension Bool: DocumentValueConvertible {
    /// The truth value; `nil` for anything else.
    public init?(_ value: DocumentValue) {
        guard let bool = value.bool else { return nil }
        self = bool
    }

    /// The value as a property.
    public var documentValue: DocumentValue { .bool(self) }
}

extension String: DocumentValueConvertible {
    /// The text; `nil` for anything else.
    public init?(_ value: DocumentValue) {
        guard let string = value.string else { return nil }
        self = string
    }

    /// The text as a property.
    public var documentValue: DocumentValue { .string(self) }
}

extension Date: DocumentValueConvertible {
    /// The date that a text in ISO 8601 stands for; `nil` for anything else.
    public init?(_ value: DocumentValue) {
        guard let date = value.date else { return nil }
        self = date
    }

    /// The date as text in ISO 8601, from which the same date is read. Before the year 0 and after 9999 there is no such text,
    /// and saving throws `invalidDocument`.
    public var documentValue: DocumentValue {
        iso8601.map { .string($0) }
            ?? .unstorable(
                "A date is \(timeIntervalSince1970) seconds from 1970; the years 0 to 9999 can be stored.")
    }
}

extension Data: DocumentValueConvertible {
    /// The bytes, also of a text in Base64; `nil` for anything else.
    public init?(_ value: DocumentValue) {
        guard let data = value.data ?? value.string.flatMap({ Data(base64Encoded: $0) }) else { return nil }
        self = data
    }

    /// The bytes as a property.
    public var documentValue: DocumentValue { .data([UInt8](self)) }
}

extension URL: DocumentValueConvertible {
    /// The URL that a text is; `nil` for anything else.
    public init?(_ value: DocumentValue) {
        guard let url = value.string.flatMap({ URL(string: $0) }) else { return nil }
        self = url
    }

    /// The absolute URL as text.
    public var documentValue: DocumentValue { .string(absoluteString) }
}

extension UUID: DocumentValueConvertible {
    /// The UUID that a text is; `nil` for anything else.
    public init?(_ value: DocumentValue) {
        guard let uuid = value.string.flatMap({ UUID(uuidString: $0) }) else { return nil }
        self = uuid
    }

    /// The UUID as text in capital letters.
    public var documentValue: DocumentValue { .string(uuidString) }
}

extension Decimal: DocumentValueConvertible {
    /// The number, or the number that a text or an object with a decimal's digits is; `nil` for anything else.
    public init?(_ value: DocumentValue) {
        let number: DecimalNumber? =
            switch value {
            case .integer(let value): .integer(value)
            case .unsigned(let value): .unsigned(value)
            case .double(let value): .double(value)
            case .string(let text): .digits(text)
            case .dictionary(let members)
            where members.count == 2 && members[DecimalNumber.typeKey] == .string(DecimalNumber.typeName):
                members[DecimalNumber.valueKey]?.string.map(DecimalNumber.digits)
            default: nil
            }
        guard let decimal = number?.decimal else { return nil }
        self = decimal
    }

    /// A number where a number carries the decimal exactly, otherwise an object with its digits, which queries take for a number.
    public var documentValue: DocumentValue {
        switch DecimalNumber(self) {
        case .integer(let value): .integer(value)
        case .unsigned(let value): .unsigned(value)
        case .double(let value): .double(value)
        case .digits(let digits):
            .dictionary([
                DecimalNumber.typeKey: .string(DecimalNumber.typeName),
                DecimalNumber.valueKey: .string(digits),
            ])
        case nil: .unstorable("A decimal is not a number. JSON and Fleece have no such value.")
        }
    }
}

extension Blob: DocumentValueConvertible {
    /// The blob that a property refers to; `nil` for anything else.
    public init?(_ value: DocumentValue) { self.init(DocumentValue?.some(value)) }

    /// The reference as a property.
    public var documentValue: DocumentValue { value }
}

extension Array: DocumentValueConvertible where Element: DocumentValueConvertible {
    /// The list; `nil` when one of its values is of another kind.
    public init?(_ value: DocumentValue) {
        guard let values = value.array else { return nil }
        self = values.compactMap { Element($0) }
        if count != values.count { return nil }
    }

    /// The elements as a list.
    public var documentValue: DocumentValue { .array(map(\.documentValue)) }
}

extension Dictionary: DocumentValueConvertible where Key == String, Value: DocumentValueConvertible {
    /// The values by name; `nil` when one of them is of another kind.
    public init?(_ value: DocumentValue) {
        guard let values = value.dictionary else { return nil }
        self.init()
        for (name, value) in values {
            guard let own = Value(value) else { return nil }
            self[name] = own
        }
    }

    /// The values by name.
    public var documentValue: DocumentValue { .dictionary(NamedValues(mapValues(\.documentValue))) }
}

extension NamedValues: DocumentValueConvertible where Value: DocumentValueConvertible {
    /// The values by name; `nil` when one of them is of another kind.
    public init?(_ value: DocumentValue) {
        guard let values = value.dictionary else { return nil }
        self.init()
        for (name, value) in values {
            guard let own = Value(value) else { return nil }
            self[name] = own
        }
    }

    /// The values by name.
    public var documentValue: DocumentValue { .dictionary(mapValues(\.documentValue)) }
}

// MARK: - Numbers

extension FixedWidthInteger where Self: DocumentValueConvertible {
    /// The number; `nil` if it is not whole, out of range, or no number.
    public init?(_ value: DocumentValue) {
        switch value {
        case .integer(let number): self.init(exactly: number)
        case .unsigned(let number): self.init(exactly: number)
        case .double(let number): self.init(exactly: number)
        default: return nil
        }
    }

    /// The number as a property. One that has no 64 bits can't be stored.
    public var documentValue: DocumentValue {
        if let number = Int64(exactly: self) { return .integer(number) }
        if let number = UInt64(exactly: self) { return .unsigned(number) }
        return .unstorable("The number \(self) has more than 64 bits.")
    }
}

extension Int: DocumentValueConvertible {}
extension Int8: DocumentValueConvertible {}
extension Int16: DocumentValueConvertible {}
extension Int32: DocumentValueConvertible {}
extension Int64: DocumentValueConvertible {}
extension UInt: DocumentValueConvertible {}
extension UInt8: DocumentValueConvertible {}
extension UInt16: DocumentValueConvertible {}
extension UInt32: DocumentValueConvertible {}
extension UInt64: DocumentValueConvertible {}

extension Double: DocumentValueConvertible {
    /// The number; `nil` if this is no number.
    public init?(_ value: DocumentValue) {
        guard let double = value.double else { return nil }
        self = double
    }

    /// The number as a property, which stays a floating-point number. Must be finite to be stored.
    public var documentValue: DocumentValue { .double(self) }
}

extension Float: DocumentValueConvertible {
    /// The number, rounded; `nil` if this is no number, and beyond the range.
    public init?(_ value: DocumentValue) {
        guard let float = value.double.map({ Float($0) }), float.isFinite else { return nil }
        self = float
    }

    /// The number as a property, which stays a floating-point number. Must be finite to be stored.
    public var documentValue: DocumentValue { .double(Double(self)) }
}
