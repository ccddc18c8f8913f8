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
