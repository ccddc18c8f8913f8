import RoostBytes

/// A key: bytes that order as unsigned numbers, a proper prefix first. At most 4096 of them.
public struct Key: Hashable, Comparable, Sendable {
    /// The bytes.
    public let bytes: [UInt8]

    /// A key of the given bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The string's UTF-8, which orders by code points.
    public init(_ string: some StringProtocol) { bytes = Array(string.utf8) }

    /// Eight bytes, most significant first, so that keys order as the numbers do.
    public init(_ number: UInt64) {
        bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    }

    /// The key as text, `nil` when it is no UTF-8.
    public var string: String? { String(validating: bytes, as: UTF8.self) }

    /// The number that ``init(_:)-(UInt64)`` made the key of, `nil` when it has not eight bytes.
    public var number: UInt64? {
        bytes.count == 8 ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    /// Byte order.
    public static func < (a: Key, b: Key) -> Bool {
        a.bytes.withView { a in b.bytes.withView { b in a.compare(b) < 0 } }
    }
}

extension Key: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The literal's UTF-8.
    public init(stringLiteral value: String) { self.init(value) }

    /// The literal's bytes.
    public init(arrayLiteral elements: UInt8...) { self.init(elements) }
}
