/// A summary of its own that a tree keeps for every subtree: a monoid over its entries.
///
/// The store keeps the combined value in every inner entry, so reducing any range of keys is O(log n). The functions
/// must be pure, `combine` associative with `identity` as its neutral element, and every value at most 255 bytes long.
/// They are called from any thread.
public struct Reduction: Sendable {
    /// Identifies the reduction in the file; a tree keeps the one that it was made with.
    public let name: String
    /// The value for no entries.
    public let identity: [UInt8]
    /// The value of one entry, from its key and inline value.
    public let map: @Sendable (_ key: [UInt8], _ value: [UInt8]) -> [UInt8]
    /// The value of two neighbouring runs of entries, the left one first.
    public let combine: @Sendable (_ left: [UInt8], _ right: [UInt8]) -> [UInt8]

    /// A reduction under the name that trees refer to.
    public init(
        name: String, identity: [UInt8],
        map: @escaping @Sendable (_ key: [UInt8], _ value: [UInt8]) -> [UInt8],
        combine: @escaping @Sendable (_ left: [UInt8], _ right: [UInt8]) -> [UInt8]
    ) {
        self.name = name
        self.identity = identity
        self.map = map
        self.combine = combine
    }
}

extension Reduction {
    /// - Throws: ``StoreError/Code/limitExceeded`` when `value` is longer than the format allows.
    func check(_ value: [UInt8], of tree: String) throws(StoreError) {
        guard value.count <= Format.maximumReductionLength else {
            throw StoreError(
                .limitExceeded,
                "The reduction \"\(name)\" of tree \"\(tree)\" made a value of \(value.count) bytes; at most "
                    + "\(Format.maximumReductionLength) are possible.")
        }
    }
}
