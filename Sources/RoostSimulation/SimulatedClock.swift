import RoostFile
import Synchronization

/// A clock that stands still but for `step` at each look, and goes where it is told.
///
/// Safe for any number of threads.
package final class SimulatedClock: WallClock {
    private struct Hands {
        var wall: UInt64
        var monotonic: UInt64 = 0
    }

    private let hands: Mutex<Hands>
    private let step: UInt64

    /// - Parameters:
    ///   - start: What ``now()`` answers first, in microseconds since 1970; 2023-11-14 22:13:20 UTC by default.
    ///   - step: Microseconds that pass at each call of ``now()`` or ``monotonic()``.
    package init(start: UInt64 = 1_700_000_000_000_000, step: UInt64 = 1) {
        hands = Mutex(Hands(wall: start))
        self.step = step
    }

    package func now() -> UInt64 {
        hands.withLock { hands in
            defer { hands.wall &+= step }
            return hands.wall
        }
    }

    package func monotonic() -> UInt64 {
        hands.withLock { hands in
            defer { hands.monotonic &+= step }
            return hands.monotonic
        }
    }

    /// Lets `microseconds` pass, on both clocks.
    package func advance(by microseconds: UInt64) {
        hands.withLock { hands in
            hands.wall &+= microseconds
            hands.monotonic &+= microseconds
        }
    }

    /// Sets the wall clock, to the past or to the future; the monotonic clock does not notice.
    package func jump(to wall: UInt64) {
        hands.withLock { $0.wall = wall }
    }
}
