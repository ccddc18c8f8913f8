import Fleece

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
