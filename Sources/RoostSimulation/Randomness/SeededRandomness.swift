import RoostFile
import Synchronization

/// Keys and salts that follow from a seed, so that a run can be repeated byte by byte.
///
/// Safe for any number of threads; which thread gets which bytes then depends on their order.
package final class SeededRandomness: Randomness {
    private let generator: Mutex<SeededGenerator>

    package init(seed: UInt64) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        generator.withLock { unsafe $0.fill(buffer) }
    }
}
