/// How often a medium was called, failed calls included.
///
/// Take it before and after and subtract, to assert "one write, one sync":
/// `let cost = disk.counts - before; #expect(cost[.write] == 1)`.
package struct CallCounts: Equatable, Sendable {
    private var calls = [Int](repeating: 0, count: CallKind.allCases.count)
    /// Calls of all kinds.
    package private(set) var total = 0
    /// Calls for which ``CallKind/isChange`` holds: the places where a crash makes a difference.
    package private(set) var changes = 0
    /// Bytes that write calls were answered to have taken.
    package internal(set) var bytesWritten = 0
    /// Bytes that read calls delivered.
    package internal(set) var bytesRead = 0

    /// Reads and writes that transferred less than was asked for, by plan.
    package internal(set) var shortened = 0
    /// Calls that were interrupted, by plan.
    package internal(set) var interrupted = 0

    package init() {}

    /// Calls of one kind.
    package subscript(kind: CallKind) -> Int { calls[kind.rawValue] }

    mutating func add(_ kind: CallKind) {
        calls[kind.rawValue] += 1
        total += 1
        if kind.isChange { changes += 1 }
    }

    package static func - (later: CallCounts, earlier: CallCounts) -> CallCounts {
        var difference = later
        for index in difference.calls.indices { difference.calls[index] -= earlier.calls[index] }
        difference.total -= earlier.total
        difference.changes -= earlier.changes
        difference.bytesWritten -= earlier.bytesWritten
        difference.bytesRead -= earlier.bytesRead
        difference.shortened -= earlier.shortened
        difference.interrupted -= earlier.interrupted
        return difference
    }
}
