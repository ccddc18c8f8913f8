import Roost
import RoostOrder

/// Writes what rows are ordered by as keys that compare as bytes.
final class OrderEncoder {
    private let parts: [(value: Evaluation, encoder: KeyEncoder, isDescending: Bool)]
    private(set) var key: [UInt8] = []
    /// A key from which on nothing is wanted; `nil` while everything is.
    var limit: [UInt8]?

    init(_ order: [OrderPlan]) {
        parts = order.map { (unshared($0.value), KeyEncoder($0.collation), $0.isDescending) }
    }

    /// Takes a key that was made before.
    ///
    /// - Returns: Whether it comes before the limit.
    func set(_ key: [UInt8]) -> Bool {
        self.key = key
        return comparisonWithLimit < 0
    }

    /// Appends the values of the present rows, as many as it takes to see that the key does not come before the limit.
    ///
    /// - Returns: Whether it comes before the limit, and so is whole.
    func append(_ frame: Frame) -> Bool {
        key.removeAll(keepingCapacity: true)
        var precedes = limit == nil
        for index in parts.indices {
            let encoder = parts[index].encoder
            encoder.reset()
            encoder.append(parts[index].value(frame))
            if parts[index].isDescending { encoder.complement(from: 0) }
            unsafe key.append(contentsOf: encoder.view.buffer)
            if precedes { continue }
            let comparison = comparisonWithLimit
            if comparison > 0 { return false }
            precedes = comparison < 0
        }
        return precedes
    }

    /// How the key, or what there is of it, compares with as much of the limit. No key is the beginning of another.
    private var comparisonWithLimit: Int {
        guard let limit else { return -1 }
        return key.withView { key in
            limit.withView { limit in
                let common = key.commonPrefix(limit)
                guard common < min(key.count, limit.count) else { return 0 }
                return Int(key[common]) - Int(limit[common])
            }
        }
    }
}
