import Fleece
import Foundation

// Accessors stand on the optional value, so that a chain of subscripts needs no unwrapping and may be assigned to:
//
//      draft["address"]["street"].string = "1 Main St."     // makes the address if there is none
//      draft["phones"][0].string

extension DocumentValue? {
    /// The value of `key` if this is a dictionary that has it. Assigning makes the dictionary, in place of whatever else
    /// is here; assigning `nil` removes the key.
    public subscript(key: String) -> DocumentValue? {
        get {
            guard case .dictionary(let values) = self else { return nil }
            return values[key]
        }
        set {
            guard case .dictionary(var values) = self else {
                if let newValue { self = .dictionary([key: newValue]) }
                return
            }
            // The array or dictionary is taken out while it is changed, so that it is not copied.
            self = nil
            values[key] = newValue
            self = .dictionary(values)
        }
    }

    /// The element at `index` if this is an array that has it; negative indices count from the end. Assigning at the
    /// end appends, assigning `nil` removes; farther away, and to what is no array, assigning does nothing.
    public subscript(index: Int) -> DocumentValue? {
        get {
            guard case .array(let values) = self else { return nil }
            let index = index < 0 ? values.count + index : index
            return values.indices.contains(index) ? values[index] : nil
        }
        set {
            guard case .array(var values) = self else { return }
            let index = index < 0 ? values.count + index : index
            guard index >= 0, index <= values.count else { return }
            self = nil
            if index == values.count {
                if let newValue { values.append(newValue) }
            } else if let newValue {
                values[index] = newValue
            } else {
                values.remove(at: index)
            }
            self = .array(values)
        }
    }

    /// The value that `path` leads to. Assigning makes the dictionaries on the way, but no arrays.
    public subscript(path path: FleecePath) -> DocumentValue? {
        get { self[components: path.components[...]] }
        set { self[components: path.components[...]] = newValue }
    }

    private subscript(components components: ArraySlice<FleecePath.Component>) -> DocumentValue? {
        get {
            switch components.first {
            case nil: self
            case .key(let key): self[key][components: components.dropFirst()]
            case .index(let index): self[index][components: components.dropFirst()]
            }
        }
        set {
            switch components.first {
            case nil: self = newValue
            case .key(let key): self[key][components: components.dropFirst()] = newValue
            case .index(let index): self[index][components: components.dropFirst()] = newValue
            }
        }
    }

    /// Whether the value is there and null.
    public var isNull: Bool { self == .some(.null) }

    /// The truth value; `nil` for anything else.
    public var bool: Bool? {
        get { if case .bool(let value) = self { value } else { nil } }
        set { self = newValue.map { .bool($0) } }
    }

    /// The number as an `Int`; `nil` if it is not whole, out of range, or no number.
    public var int: Int? {
        get {
            switch self {
            case .integer(let value): Int(exactly: value)
            case .unsigned(let value): Int(exactly: value)
            case .double(let value): Int(exactly: value)
            default: nil
            }
        }
        set { self = newValue.map { .integer(Int64($0)) } }
    }

    /// The number as a `Double`; `nil` if this is no number. What is assigned stays a floating-point number.
    public var double: Double? {
        get {
            switch self {
            case .integer(let value): Double(value)
            case .unsigned(let value): Double(value)
            case .double(let value): value
            default: nil
            }
        }
        set { self = newValue.map { .double($0) } }
    }

    /// The text; `nil` for anything else.
    public var string: String? {
        get { if case .string(let value) = self { value } else { nil } }
        set { self = newValue.map { .string($0) } }
    }

    /// The bytes; `nil` for anything else.
    public var data: Data? {
        get { if case .data(let value) = self { Data(value) } else { nil } }
        set { self = newValue.map { .data([UInt8]($0)) } }
    }

    /// The date that a text in ISO 8601 stands for; `nil` for anything else. What is assigned is kept exactly; a date
    /// before the year 0 or after 9999 becomes ``DocumentValue/unstorable(_:)``.
    public var date: Date? {
        get { string.flatMap { Date(iso8601: $0) } }
        set { self = newValue?.documentValue }
    }

    /// The list; `nil` for anything else.
    public var array: [DocumentValue]? {
        get { if case .array(let values) = self { values } else { nil } }
        set { self = newValue.map { .array($0) } }
    }

    /// The values by name; `nil` for anything else.
    public var dictionary: NamedValues<DocumentValue>? {
        get { if case .dictionary(let values) = self { values } else { nil } }
        set { self = newValue.map { .dictionary($0) } }
    }
}
