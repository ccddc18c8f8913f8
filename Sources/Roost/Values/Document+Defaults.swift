import Fleece
import Foundation

// Properties with a default, for those that are not there or are of another kind. `contains(_:)` tells a missing
// property from one that has the default's value.

extension Document {
    /// The property as an integer.
    public func int(_ key: String, default: Int = 0) -> Int { self[key].int ?? `default` }

    /// The property as a floating-point number.
    public func double(_ key: String, default: Double = 0) -> Double { self[key].double ?? `default` }

    /// The property as a truth value.
    public func bool(_ key: String, default: Bool = false) -> Bool { self[key].bool ?? `default` }

    /// The property as text; `nil` unless it is text.
    public func string(_ key: String) -> String? { self[key].string }

    /// The property as a date, from text in ISO 8601; `nil` unless it is one.
    public func date(_ key: String) -> Date? { self[key].date }
}

extension MutableDocument {
    /// The property as an integer.
    public func int(_ key: String, default: Int = 0) -> Int { self[key].int ?? `default` }

    /// The property as a floating-point number.
    public func double(_ key: String, default: Double = 0) -> Double { self[key].double ?? `default` }

    /// The property as a truth value.
    public func bool(_ key: String, default: Bool = false) -> Bool { self[key].bool ?? `default` }

    /// The property as text; `nil` unless it is text.
    public func string(_ key: String) -> String? { self[key].string }

    /// The property as a date, from text in ISO 8601; `nil` unless it is one.
    public func date(_ key: String) -> Date? { self[key].date }
}
