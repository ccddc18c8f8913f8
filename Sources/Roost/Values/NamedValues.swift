/// Values by name, where names compare by their UTF-8 and not as Swift compares strings.
///
/// `é` as one character and as `e` with an accent are one key of a Swift dictionary, but two names in JSON, in the file
/// and on every peer. Otherwise it is used like a dictionary, and can be written as a literal:
///
/// ```swift
/// var properties: NamedValues<DocumentValue> = ["title": "Swifts", "seen": 3]
/// properties["seen"] = 4
/// ```
///
/// Enumerated, the values come in the byte order of their names. Looking up, adding and removing are O(1).
public struct NamedValues<Value> {
    private var storage: [ByteKey: Value] = [:]

    /// No values.
    public init() {}

    /// The values of a Swift dictionary.
    public init(_ values: [String: Value]) {
        for (name, value) in values { self[name] = value }
    }

    /// How many values there are.
    public var count: Int { storage.count }

    /// Whether there are none.
    public var isEmpty: Bool { storage.isEmpty }

    /// The names in byte order. O(n log n).
    public var keys: [String] { storage.keys.sorted().map(\.text) }

    /// The values in the byte order of their names. O(n log n).
    public var values: [Value] { map(\.value) }

    /// The value with that name. Assigning `nil` removes it.
    public subscript(name: String) -> Value? {
        get { storage[ByteKey(name)] }
        set { storage[ByteKey(name)] = newValue }
        _modify { yield &storage[ByteKey(name)] }
    }

    /// Removes the value with that name, and returns it if there was one.
    @discardableResult
    public mutating func removeValue(forKey name: String) -> Value? {
        storage.removeValue(forKey: ByteKey(name))
    }

    /// The results of `transform` under the same names.
    public func mapValues<T>(_ transform: (Value) throws -> T) rethrows -> NamedValues<T> {
        var result = NamedValues<T>()
        for (name, value) in storage { result[name.text] = try transform(value) }
        return result
    }
}

extension NamedValues: Sequence {
    /// Enumerates names and values in the byte order of the names. O(n log n).
    public func makeIterator() -> IndexingIterator<[(key: String, value: Value)]> {
        storage.sorted { $0.key < $1.key }.map { (key: $0.key.text, value: $0.value) }.makeIterator()
    }

    /// How many values there are.
    public var underestimatedCount: Int { count }
}

extension NamedValues: ExpressibleByDictionaryLiteral {
    /// Values by name; the last one counts where a name comes twice.
    public init(dictionaryLiteral elements: (String, Value)...) {
        for (name, value) in elements { self[name] = value }
    }
}

extension NamedValues: Sendable where Value: Sendable {}
extension NamedValues: Equatable where Value: Equatable {}
extension NamedValues: Hashable where Value: Hashable {}

extension NamedValues: CustomStringConvertible {
    /// Names and values in byte order, written as a literal.
    public var description: String {
        isEmpty
            ? "[:]" : "[" + map { "\($0.key.debugDescription): \($0.value)" }.joined(separator: ", ") + "]"
    }
}

/// Text as the key of a dictionary or set, compared by its UTF-8.
package struct ByteKey: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
