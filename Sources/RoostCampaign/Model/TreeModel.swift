import RoostStorage

/// What a tree should hold: entries in key order. Value semantics, so that a copy is the tree as of a commit.
///
/// Look-ups are O(log n), changes O(n) with a tiny factor; equality is O(n).
package struct TreeModel: Equatable, Sendable {
    /// An entry's value, and what stands in the leaf beside a value elsewhere.
    package struct Value: Equatable, Sendable {
        /// Bytes beside a value that several entries share; empty for all others.
        package var inline: [UInt8] = []
        /// The value itself.
        package var bytes: [UInt8]
    }

    /// All keys, in order.
    package private(set) var keys: [Key] = []
    /// The values, in the order of their keys.
    package private(set) var values: [Value] = []

    /// A tree without entries.
    package init() {}

    /// How many entries there are.
    package var count: Int { keys.count }

    /// How many keys are less than `key`.
    package func rank(_ key: Key) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package subscript(key: Key) -> Value? {
        let index = rank(key)
        return index < keys.count && keys[index] == key ? values[index] : nil
    }

    /// The places of the keys in `range`.
    package func indices(in range: KeyRange) -> Range<Int> {
        let start = range.lower.map { rank($0) } ?? 0
        let end = range.upper.map { rank($0) } ?? count
        return start..<max(start, end)
    }

    /// Adds an entry after all others, as reading a tree does.
    package mutating func append(_ key: Key, _ value: Value) {
        keys.append(key)
        values.append(value)
    }

    package mutating func put(_ key: Key, _ value: Value) {
        let index = rank(key)
        if index < keys.count, keys[index] == key {
            values[index] = value
        } else {
            keys.insert(key, at: index)
            values.insert(value, at: index)
        }
    }

    /// Deletes `key`; `false` when it is not there.
    package mutating func delete(_ key: Key) -> Bool {
        let index = rank(key)
        guard index < keys.count, keys[index] == key else { return false }
        keys.remove(at: index)
        values.remove(at: index)
        return true
    }

    package mutating func delete(_ range: KeyRange) {
        let doomed = indices(in: range)
        keys.removeSubrange(doomed)
        values.removeSubrange(doomed)
    }
}

/// What a store should hold: trees by name.
package struct StoreModel: Equatable, Sendable {
    package var trees: [String: TreeModel] = [:]

    /// A store without trees.
    package init() {}

    package var names: [String] { trees.keys.sorted() }

    /// The tree `name`, empty when there is none; setting makes it.
    package subscript(name: String) -> TreeModel {
        get { trees[name] ?? TreeModel() }
        set { trees[name] = newValue }
        _modify { yield &trees[name, default: TreeModel()] }
    }
}
