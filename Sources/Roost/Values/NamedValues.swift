import RoostBytes

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
    // Most documents have few properties: a sorted list of them needs no hashing, and no sorting to be enumerated. What is inlinable
    // is compiled for the types of the modules that use it, where literals would run generic code otherwise.
    /// The values in the byte order of their names, unless there are more than ``mostListed``.
    @usableFromInline var list: [(key: String, value: Value)] = []
    /// The values where there are more.
    @usableFromInline var table: [ByteKey: Value] = [:]

    @inlinable static var mostListed: Int { 16 }

    /// No values.
    @inlinable public init() {}

    /// The values of a Swift dictionary.
    @inlinable public init(_ values: [String: Value]) {
        for (name, value) in values { self[name] = value }
    }

    /// The values of a literal; the last one counts where a name comes twice.
    @inlinable init(pairs: [(String, Value)]) {
        list.reserveCapacity(Swift.min(pairs.count, Self.mostListed))
        for (name, value) in pairs { self[name] = value }
    }

    /// How many values there are.
    @inlinable public var count: Int { list.count + table.count }

    /// Whether there are none.
    @inlinable public var isEmpty: Bool { list.isEmpty && table.isEmpty }

    /// The names in byte order. O(n log n).
    public var keys: [String] { entries.map(\.key) }

    /// The values in the byte order of their names. O(n log n).
    public var values: [Value] { entries.map(\.value) }

    /// The value with that name. Assigning `nil` removes it.
    @inlinable public subscript(name: String) -> Value? {
        get {
            guard table.isEmpty else { return table[ByteKey(name)] }
            let place = place(of: name)
            return place.isTaken ? list[place.index].value : nil
        }
        _modify {
            if table.isEmpty {
                // The value is taken out while it is changed, so that it is not copied.
                let place = place(of: name)
                var value = place.isTaken ? list.remove(at: place.index).value : nil
                defer { if let value { insert(value, name, at: place.index) } }
                yield &value
            } else {
                defer { if table.count <= Self.mostListed { (list, table) = (entries, [:]) } }
                yield &table[ByteKey(name)]
            }
        }
    }

    /// Removes the value with that name, and returns it if there was one.
    @discardableResult
    public mutating func removeValue(forKey name: String) -> Value? {
        self[name].take()
    }

    /// The results of `transform` under the same names.
    public func mapValues<T>(_ transform: (Value) throws -> T) rethrows -> NamedValues<T> {
        var result = NamedValues<T>()
        for (name, value) in self { result[name] = try transform(value) }
        return result
    }

    // MARK: Storage

    /// All of them in the byte order of their names.
    @inlinable var entries: [(key: String, value: Value)] {
        if table.isEmpty { return list }
        return table.sorted { $0.key < $1.key }.map { (key: $0.key.text, value: $0.value) }
    }

    /// Where in the list the value with that name is, or would be.
    @inlinable func place(of name: String) -> (index: Int, isTaken: Bool) {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            let order = ByteKey(name).compare(ByteKey(list[middle].key))
            if order == 0 { return (middle, true) }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return (low, false)
    }

    @inlinable mutating func insert(_ value: Value, _ name: String, at index: Int) {
        list.insert((name, value), at: index)
        guard list.count > Self.mostListed else { return }
        for (name, value) in list { table[ByteKey(name)] = value }
        list = []
    }
}

extension NamedValues: Sequence {
    /// Enumerates names and values in the byte order of the names. O(n log n).
    @inlinable public func makeIterator() -> IndexingIterator<[(key: String, value: Value)]> {
        entries.makeIterator()
    }

    /// How many values there are.
    public var underestimatedCount: Int { count }
}

extension NamedValues: ExpressibleByDictionaryLiteral {
    /// Values by name; the last one counts where a name comes twice.
    @inlinable public init(dictionaryLiteral elements: (String, Value)...) { self.init(pairs: elements) }
}

extension NamedValues: Sendable where Value: Sendable {}

extension NamedValues: Equatable where Value: Equatable {
    /// Whether both have the same values with the same names.
    public static func == (left: Self, right: Self) -> Bool {
        left.table == right.table
            && left.list.elementsEqual(right.list) {
                ByteKey($0.key) == ByteKey($1.key) && $0.value == $1.value
            }
    }
}

extension NamedValues: Hashable where Value: Hashable {
    /// Hashes the names and the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(table)
        for (name, value) in list {
            hasher.combine(ByteKey(name))
            hasher.combine(value)
        }
    }
}

extension NamedValues: CustomStringConvertible {
    /// Names and values in byte order, written as a literal.
    public var description: String {
        isEmpty
            ? "[:]" : "[" + map { "\($0.key.debugDescription): \($0.value)" }.joined(separator: ", ") + "]"
    }
}

/// Text as the key of a dictionary or set, compared by its UTF-8.
@usableFromInline package struct ByteKey: Hashable, Comparable, Sendable {
    @usableFromInline package let text: String

    @usableFromInline package init(_ text: String) { self.text = text }

    @usableFromInline package static func == (left: Self, right: Self) -> Bool { left.compare(right) == 0 }

    @usableFromInline package static func < (left: Self, right: Self) -> Bool { left.compare(right) < 0 }

    /// Negative, zero or positive as the text comes before the other one, is the same, or comes after it.
    @usableFromInline func compare(_ other: Self) -> Int {
        var (text, otherText) = (text, other.text)
        return text.withUTF8 { bytes in
            otherText.withUTF8 { otherBytes in
                unsafe ByteView(UnsafeRawBufferPointer(bytes)).compare(
                    ByteView(UnsafeRawBufferPointer(otherBytes)))
            }
        }
    }

    @usableFromInline package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
