/// What a ``PersistentMap`` adds up over its values.
protocol Weighted {
    associatedtype Weight: AdditiveArithmetic & Sendable
    var weight: Weight { get }
}

/// An ordered map of which old versions stay: copying it is O(1), and a change copies only the nodes on the way to its
/// key, O(log n), and shares the others with the map before.
///
/// A B-tree in memory whose nodes know the weight of what is below them. Nodes that become empty go; others are not
/// merged, as trees of a store are seldom dropped in great numbers.
struct PersistentMap<Key: Comparable & Sendable, Value: Weighted & Sendable>: Sendable {
    private var root = Node()

    /// The sum of all values' weights. O(1).
    var weight: Value.Weight { root.weight }

    subscript(key: Key) -> Value? { root.find(key) }

    /// Sets the value under `key`, replacing what is there.
    mutating func set(_ value: Value, for key: Key) {
        guard let right = root.set(value, for: key) else { return }
        let left = root
        root = Node(
            keys: [left.keys[0], right.keys[0]], children: [left, right], weight: left.weight + right.weight)
    }

    mutating func remove(_ key: Key) {
        root.remove(key)
        while root.children.count == 1 { root = root.children[0] }
    }

    /// The first entry at or above `key` of a weight that `isWanted`. O(log n).
    ///
    /// - Parameter isWanted: holds for a sum of weights exactly where it holds for one of them.
    func first(from key: Key, where isWanted: (Value.Weight) -> Bool) -> Value? {
        root.first(from: key, where: isWanted)
    }
}

extension PersistentMap {
    fileprivate struct Node: Sendable {
        /// The keys of a leaf; the first key below each child of a branch, as it was when the child was made.
        var keys: [Key] = []
        /// Of a leaf, one for each key.
        var values: [Value] = []
        /// Of a branch, one for each key; empty in a leaf.
        var children: [Node] = []
        /// The sum of the values below.
        var weight = Value.Weight.zero

        /// Of how many keys a node is split.
        private static var limit: Int { 32 }

        /// How many keys are less than `key`, or not greater.
        private func place(of key: Key, includingEqual: Bool) -> Int {
            var (low, high) = (0, keys.count)
            while low < high {
                let middle = (low + high) / 2
                if includingEqual ? keys[middle] <= key : keys[middle] < key {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return low
        }

        private func childIndex(_ key: Key) -> Int { Swift.max(place(of: key, includingEqual: true) - 1, 0) }

        func find(_ key: Key) -> Value? {
            guard children.isEmpty else { return children[childIndex(key)].find(key) }
            let index = place(of: key, includingEqual: false)
            return index < keys.count && keys[index] == key ? values[index] : nil
        }

        /// Returns what has been split off on the right, if the node grew too large.
        mutating func set(_ value: Value, for key: Key) -> Self? {
            if children.isEmpty {
                let index = place(of: key, includingEqual: false)
                weight += value.weight
                if index < keys.count, keys[index] == key {
                    weight -= values[index].weight
                    values[index] = value
                    return nil
                }
                keys.insert(key, at: index)
                values.insert(value, at: index)
            } else {
                let index = childIndex(key)
                weight -= children[index].weight
                let right = children[index].set(value, for: key)
                weight += children[index].weight
                guard let right else { return nil }
                weight += right.weight
                keys.insert(right.keys[0], at: index + 1)
                children.insert(right, at: index + 1)
            }
            return keys.count > Self.limit ? split() : nil
        }

        private mutating func split() -> Self {
            let middle = keys.count / 2
            var right = Self(keys: Array(keys[middle...]))
            keys.removeSubrange(middle...)
            if children.isEmpty {
                right.values = Array(values[middle...])
                values.removeSubrange(middle...)
                right.weight = right.values.reduce(.zero) { $0 + $1.weight }
            } else {
                right.children = Array(children[middle...])
                children.removeSubrange(middle...)
                right.weight = right.children.reduce(.zero) { $0 + $1.weight }
            }
            weight -= right.weight
            return right
        }

        mutating func remove(_ key: Key) {
            if children.isEmpty {
                let index = place(of: key, includingEqual: false)
                guard index < keys.count, keys[index] == key else { return }
                weight -= values[index].weight
                keys.remove(at: index)
                values.remove(at: index)
            } else {
                let index = childIndex(key)
                weight -= children[index].weight
                children[index].remove(key)
                weight += children[index].weight
                guard children[index].keys.isEmpty else { return }
                keys.remove(at: index)
                children.remove(at: index)
            }
        }

        func first(from key: Key, where isWanted: (Value.Weight) -> Bool) -> Value? {
            guard isWanted(weight) else { return nil }
            if children.isEmpty {
                return values[place(of: key, includingEqual: false)...].first { isWanted($0.weight) }
            }
            for child in children[childIndex(key)...] {
                if let found = child.first(from: key, where: isWanted) { return found }
            }
            return nil
        }
    }
}

/// Its values, in the order of their keys.
extension PersistentMap: Sequence {
    struct Iterator: IteratorProtocol {
        /// Nodes of which something is left, each with the place of what comes next.
        private var path: [(node: Node, index: Int)]

        fileprivate init(_ map: PersistentMap) { path = [(map.root, 0)] }

        mutating func next() -> Value? {
            while let (node, index) = path.popLast() {
                guard index < node.keys.count else { continue }
                path.append((node, index + 1))
                if node.children.isEmpty { return node.values[index] }
                path.append((node.children[index], 0))
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}
