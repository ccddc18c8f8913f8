/// How far an index is that is being built.
package struct BuildUnderWay: Hashable, Sendable {
    /// When that began, in microseconds since 1970.
    package let start: UInt64
    /// How many documents there are to map.
    package let total: UInt64
    /// How many were mapped.
    package var mapped: UInt64 = 0
}
