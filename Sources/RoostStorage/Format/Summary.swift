/// What every branch entry says of the subtree below it: a commutative monoid, so that counting and ranking
/// take one walk down the tree.
struct Summary: Hashable, Sendable {
    /// Entries in the subtree.
    var count: UInt64 = 0
    /// Bytes of the chunks that live through the subtree: its nodes and the values its entries own.
    var bytes: UInt64 = 0

    // Wrapping, because the numbers may come from a damaged file; the integrity check compares them.
    static func + (a: Summary, b: Summary) -> Summary {
        Summary(count: a.count &+ b.count, bytes: a.bytes &+ b.bytes)
    }

    static func - (a: Summary, b: Summary) -> Summary {
        Summary(count: a.count &- b.count, bytes: a.bytes &- b.bytes)
    }

    static func += (a: inout Summary, b: Summary) { a = a + b }
}
