/// A row of a view that is read a part at a time: the next part begins after it.
package struct RowPlace: Sendable {
    /// The number of the range among those that the query asks for.
    let range: Int
    /// The row's key in the index.
    let key: [UInt8]
}
