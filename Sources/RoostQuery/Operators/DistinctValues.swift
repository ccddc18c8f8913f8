import Fleece
import Roost
import RoostOrder

/// Values of groups, each of which an aggregate wants once, sorted by group, aggregate and value: on disk, where they exceed the
/// memory.
///
/// Belongs to one thread.
final class DistinctValues {
    private let sort: ExternalSort
    /// The entry that was read and not handed out.
    private var coming: ExternalSort.Entry?
    private var isBegun = false

    init(_ execution: Execution) { sort = ExternalSort(execution) }

    /// - Parameters:
    ///   - key: what the value is compared by.
    ///   - accumulator: the number of the aggregate, below 65,536.
    ///   - group: the group's key; none is the beginning of another.
    func add(_ value: Value, _ key: [UInt8], of accumulator: Int, in group: [UInt8]) throws(DatabaseError) {
        var writer = FleeceWriter(capacity: 32)
        writer.write(value)
        let body: [UInt8]
        do throws(FleeceError) {
            body = try writer.finish()
        } catch {
            throw DatabaseError(
                .limitExceeded, "A value can't be put aside. \(error)", underlyingError: error)
        }
        let number = [UInt8(truncatingIfNeeded: accumulator >> 8), UInt8(truncatingIfNeeded: accumulator)]
        try sort.add(group + number + key, body)
    }

    /// The next value of a group, in the frame's arena; `nil` after the last. Groups have to be asked for in their order, and
    /// nothing can be added once one was.
    func next(of group: [UInt8], _ frame: Frame) throws(DatabaseError) -> (accumulator: Int, value: Value)? {
        if !isBegun {
            isBegun = true
            coming = try sort.next()
        }
        guard let entry = coming, entry.key.starts(with: group) else { return nil }
        repeat { coming = try sort.next() } while coming?.key == entry.key
        let number = Int(entry.key[group.count]) << 8 | Int(entry.key[group.count + 1])
        return (number, Value(FleeceNode(root: frame.arena.copy(entry.value))))
    }
}
