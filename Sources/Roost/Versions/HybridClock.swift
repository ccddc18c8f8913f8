/// A hybrid logical clock (Kulkarni et al., "Logical Physical Clocks and Consistent Snapshots", 2014, figure 5) in LiteCore's form:
/// nanoseconds since 1970 whose low 16 bits are a counter.
///
/// Its times only ascend, stay close to the system's clock, and come after every time that it was shown.
package struct HybridClock: Sendable {
    /// Why a time is refused.
    package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        /// The time is below 2⁴⁰ or above 2⁶³ − 1, which no edit has.
        case impossible
        /// The time is more than two minutes ahead of the system's clock, which would drag this clock along.
        case ahead

        package var description: String {
            switch self {
            case .impossible: "The time of a version is one that no edit has."
            case .ahead: "The time of a version is more than two minutes ahead of this system's clock."
            }
        }
    }

    /// The low bits, which count.
    private static let counterMask: UInt64 = 0xFFFF
    /// How far ahead of the system's clock a time may be, in nanoseconds: two minutes.
    package static let mostAhead: UInt64 = 120_000_000_000
    /// The times that edits have.
    package static let range: ClosedRange<UInt64> = 1 << 40...(1 << 63) - 1

    /// The newest time that the clock has given or was shown.
    package private(set) var last: UInt64

    /// A clock that goes on after a time.
    package init(last: UInt64 = 0) { self.last = last }

    /// A new time, after all others.
    ///
    /// - Parameter wall: The system's clock, in nanoseconds since 1970.
    package mutating func now(wall: UInt64) -> UInt64 {
        let wall = wall & ~Self.counterMask
        last = wall <= last & ~Self.counterMask ? last + 1 : wall
        return last
    }

    /// Shows the clock a time of another peer.
    ///
    /// - Throws: ``Refusal``, and stays as it is.
    package mutating func see(_ time: UInt64, wall: UInt64) throws(Refusal) {
        guard Self.range.contains(time) else { throw .impossible }
        guard time <= wall || time - wall <= Self.mostAhead else { throw .ahead }
        last = max(last, time)
    }
}
