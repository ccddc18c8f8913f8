import RoostStorage

/// What a tree should hold: a plain dictionary, sorted when asked.
struct Model: Equatable {
    private(set) var entries: [Key: [UInt8]] = [:]

    var sorted: [(key: Key, value: [UInt8])] {
        entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    mutating func put(_ key: Key, _ value: [UInt8]) { entries[key] = value }

    mutating func delete(_ key: Key) { entries[key] = nil }

    mutating func delete(_ range: KeyRange) {
        entries = entries.filter { !range.contains($0.key) }
    }
}

extension KeyRange {
    func contains(_ key: Key) -> Bool {
        if let lower, key < lower { return false }
        if let upper, key >= upper { return false }
        return true
    }
}
