import Fleece
import Foundation

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
