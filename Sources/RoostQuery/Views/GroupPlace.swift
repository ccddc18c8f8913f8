import RoostStorage

/// Where the groups of a view go on that are read a part at a time.
package struct GroupPlace: Sendable {
    /// The number of the range among those that the query asks for.
    let range: Int
    /// What is left of it.
    let rest: KeyRange
    /// How many groups the query's limit still allows.
    let left: Int
}
