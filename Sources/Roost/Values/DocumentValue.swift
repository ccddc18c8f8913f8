import Fleece
import Foundation

/// A JSON value in memory, to be built and changed: what a ``MutableDocument`` consists of.
///
/// ```swift
/// let address: DocumentValue = ["street": "1 Main St.", "floor": 3, "lift": false, "note": nil]
/// ```
public enum DocumentValue: Sendable, Hashable {
    /// JSON's null, which is a value: a property that is null is there.
    case null
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number beyond those of ``integer(_:)``; smaller ones become integers when they are stored.
    case unsigned(UInt64)
    /// A floating-point number, which stays one even if it is whole. Must be finite to be stored.
    case double(Double)
    /// Text.
    case string(String)
    /// Bytes. In JSON they are text in Base64.
    case data([UInt8])
    /// A list of values.
    case array([DocumentValue])
    /// Values by name.
    case dictionary(NamedValues<DocumentValue>)
    /// What can't be stored, and why, as a sentence: assigning a date of the year 10000 leaves this, so that nothing gets lost
    /// unnoticed. Saving throws `invalidDocument` with that reason.
    case unstorable(String)
}

extension DocumentValue {
    /// Whether both are stored alike: texts are the same when their UTF-8 is.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): ByteKey(left) == ByteKey(right)
        case (.data(let left), .data(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        case (.unstorable(let left), .unstorable(let right)): left == right
        default: false
        }
    }

    /// Hashes the value, texts by their UTF-8.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): hasher.combine(ByteKey(value))
        case .data(let value): hasher.combine(value)
        case .array(let values): hasher.combine(values)
        case .dictionary(let values): hasher.combine(values)
        case .unstorable(let reason): hasher.combine(reason)
        }
    }

    /// A copy of a stored value with all that is in it; `nil` where there is none.
    public init?(_ value: FleeceValue) {
        switch value.kind {
        case .undefined: return nil
        case .null: self = .null
        case .bool: self = .bool(value.bool ?? false)
        case .integer: self = value.int64.map(Self.integer) ?? .unsigned(value.uint64 ?? 0)
        case .double: self = .double(value.double ?? 0)
        case .string: self = .string(value.string ?? "")
        case .data: self = .data(value.data ?? [])
        case .array: self = .array(value.array?.compactMap { Self($0) } ?? [])
        case .dictionary: self = .dictionary(value.dictionary.map(Self.properties) ?? [:])
        }
    }

    /// A copy of a stored dictionary.
    static func properties(_ dictionary: FleeceDictionary) -> NamedValues<DocumentValue> {
        var copy = NamedValues<DocumentValue>()
        for (key, value) in dictionary { copy[key] = Self(value) }
        return copy
    }

    /// Writes the value into a body, within `depth` collections. What is nested too deeply is an error of the writer, and is
    /// not followed.
    func write(to writer: inout FleeceWriter, depth: Int = 0) {
        switch self {
        case .null: writer.writeNull()
        case .bool(let value): writer.write(value)
        case .integer(let value): writer.write(value)
        case .unsigned(let value): writer.write(value)
        case .double(let value): writer.write(value)
        case .string(let value): writer.write(value)
        case .data(let value): writer.write(data: value)
        case .array(let values):
            writer.beginArray()
            guard depth < FleeceLimits.maximumDepth else { return }
            for value in values { value.write(to: &writer, depth: depth + 1) }
            writer.endArray()
        case .dictionary(let values): Self.write(values, to: &writer, depth: depth)
        case .unstorable(let reason): writer.fail(.unrepresentableNumber, reason)
        }
    }

    static func write(
        _ values: NamedValues<DocumentValue>, to writer: inout FleeceWriter, depth: Int = 0
    ) {
        writer.beginDictionary()
        guard depth < FleeceLimits.maximumDepth else { return }
        for (key, value) in values {
            writer.key(key)
            value.write(to: &writer, depth: depth + 1)
        }
        writer.endDictionary()
    }
}

// MARK: - JSON

extension DocumentValue {
    /// The value that a JSON text describes.
    ///
    /// - Throws: `invalidDocument` for text that is not JSON, with line and column.
    public init(json: String) throws(DatabaseError) {
        let document = try translating { () throws(FleeceError) in try FleeceDocument(json: json) }
        self = Self(document.root) ?? .null
    }

    /// The value as JSON text; see ``Document/json(_:)``.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite, `limitExceeded` for too deep nesting.
    public func json(_ format: JSONFormat = .compact) throws(DatabaseError) -> String {
        try fleece().root.json(format)
    }

    private func fleece() throws(DatabaseError) -> FleeceDocument {
        FleeceDocument(trusting: try fleeceBytes())
    }

    /// The value as a Fleece body.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite, `limitExceeded` for too deep nesting.
    package func fleeceBytes() throws(DatabaseError) -> [UInt8] {
        var writer = FleeceWriter()
        write(to: &writer)
        return try translating { () throws(FleeceError) in try writer.finish() }
    }
}

extension DocumentValue: CustomStringConvertible {
    /// The value as JSON text.
    public var description: String { (try? json()) ?? "(not storable)" }
}

extension DocumentValue: Codable {
    /// Takes whatever the decoder holds.
    public init(from decoder: any Decoder) throws {
        self = Self(try FleeceValue(from: decoder)) ?? .null
    }

    /// Encodes the value with any encoder.
    public func encode(to encoder: any Encoder) throws {
        try fleece().root.encode(to: encoder)
    }
}

// MARK: - Literals

extension DocumentValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `nil` is ``null``.
    public init(nilLiteral: ()) { self = .null }

    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// A list of values.
    public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }

    /// Values by name; the last one counts where a name comes twice.
    public init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .dictionary(NamedValues(pairs: elements))
    }
}

// MARK: - Typed

// Properties of any type that can be one: see ``DocumentValueConvertible``. Where a type can't be told from what is around,
// the subscripts that give a ``DocumentValue`` are meant.

extension MutableDocument {
    /// A property as a value of a certain type; `nil` when it is missing or of another kind. Assigning `nil` removes it.
    public subscript<Value: DocumentValueConvertible>(key: String) -> Value? {
        get { (self[key] as DocumentValue?).flatMap { Value($0) } }
        set { self[key] = newValue?.documentValue }
    }

    /// The value that `path` leads to, of a certain type. Assigning makes the dictionaries on the way.
    public subscript<Value: DocumentValueConvertible>(path path: FleecePath) -> Value? {
        get { (self[path: path] as DocumentValue?).flatMap { Value($0) } }
        set { self[path: path] = newValue?.documentValue }
    }
}

extension DocumentValue? {
    /// The value of `key`, of a certain type, if this is a dictionary that has it. Assigning makes the dictionary, in place of
    /// whatever else is here; assigning `nil` removes the key.
    public subscript<Value: DocumentValueConvertible>(key: String) -> Value? {
        get { (self[key] as DocumentValue?).flatMap { Value($0) } }
        set { self[key] = newValue?.documentValue }
    }

    /// The element at `index`, of a certain type, if this is an array that has it. Assigning works as with values.
    public subscript<Value: DocumentValueConvertible>(index: Int) -> Value? {
        get { (self[index] as DocumentValue?).flatMap { Value($0) } }
        set { self[index] = newValue?.documentValue }
    }
}

extension DocumentValue {
    /// The value of `key`, of a certain type, if this is a dictionary that has it. Assigning makes the dictionary, in place of
    /// whatever else is here; assigning `nil` removes the key.
    public subscript<Value: DocumentValueConvertible>(key: String) -> Value? {
        get { (self[key] as DocumentValue?).flatMap { Value($0) } }
        set { self[key] = newValue?.documentValue }
    }

    /// The element at `index`, of a certain type, if this is an array that has it. Assigning works as with values.
    public subscript<Value: DocumentValueConvertible>(index: Int) -> Value? {
        get { (self[index] as DocumentValue?).flatMap { Value($0) } }
        set { self[index] = newValue?.documentValue }
    }
}

// MARK: - Members

// The accessors of optional values for a value that is there for certain, such as one that was just built:
//
//      var address: DocumentValue = ["street": "1 Main St."]
//      address["city"] = "San Francisco"

extension DocumentValue {
    /// The value of `key` if this is a dictionary that has it. Assigning makes the dictionary, in place of whatever else
    /// is here; assigning `nil` removes the key.
    public subscript(key: String) -> DocumentValue? {
        get { Self?.some(self)[key] }
        set { change { $0[key] = newValue } }
    }

    /// The element at `index` if this is an array that has it; negative indices count from the end. Assigning at the
    /// end appends, assigning `nil` removes; farther away, and to what is no array, assigning does nothing.
    public subscript(index: Int) -> DocumentValue? {
        get { Self?.some(self)[index] }
        set { change { $0[index] = newValue } }
    }

    /// The value that `path` leads to. Assigning makes the dictionaries on the way, but no arrays.
    public subscript(path path: FleecePath) -> DocumentValue? {
        get { Self?.some(self)[path: path] }
        set { change { $0[path: path] = newValue } }
    }

    /// Whether the value is null.
    public var isNull: Bool { self == .null }

    /// The truth value; `nil` for anything else.
    public var bool: Bool? { Self?.some(self).bool }

    /// The number as an `Int`; `nil` if it is not whole, out of range, or no number.
    public var int: Int? { Self?.some(self).int }

    /// The number as a `Double`; `nil` if this is no number.
    public var double: Double? { Self?.some(self).double }

    /// The text; `nil` for anything else.
    public var string: String? { Self?.some(self).string }

    /// The bytes; `nil` for anything else.
    public var data: Data? { Self?.some(self).data }

    /// The date that a text in ISO 8601 stands for; `nil` for anything else.
    public var date: Date? { Self?.some(self).date }

    /// The list; `nil` for anything else. Assigning `nil` makes this null.
    public var array: [DocumentValue]? {
        get { Self?.some(self).array }
        set { self = newValue.map { .array($0) } ?? .null }
    }

    /// The values by name; `nil` for anything else. Assigning `nil` makes this null.
    public var dictionary: NamedValues<DocumentValue>? {
        get { Self?.some(self).dictionary }
        set { self = newValue.map { .dictionary($0) } ?? .null }
    }

    /// Changes the value where it is, so that no array or dictionary is copied.
    private mutating func change(_ body: (inout DocumentValue?) -> Void) {
        var value = DocumentValue?.some(self)
        self = .null
        body(&value)
        self = value ?? .null
    }
}
