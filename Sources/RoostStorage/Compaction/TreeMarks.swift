import RoostBytes

/// Notes in a compacted file, again and again, whose leaves are stored where: from these marks salvage knows to which tree the
/// leaves of any part of the file belong, whatever else is lost.
///
/// The marks are chunks of operations that change nothing, chained behind the list of trees that the file begins with.
final class TreeMarks {
    private let output: CommitBuffer
    /// The mark written last, or the list of trees.
    private(set) var last: ChunkReference?
    /// Whose leaves follow the last mark.
    private var current: TreeVersion?

    /// Bytes of the file that follow a mark at most, before leaves get another one.
    private static let spacing: UInt64 = 64 << 10

    /// - Parameter list: the list of trees.
    init(_ output: CommitBuffer, after list: ChunkReference?) {
        self.output = output
        last = list
    }

    /// Notes that leaves of `tree` follow, unless the last mark says so nearby.
    func note(_ tree: TreeVersion) throws(StoreError) {
        if tree.id == current?.id, let last, output.end - last.end < TreeMarks.spacing { return }
        try write(before: tree)
    }

    /// Notes that no more leaves follow.
    func finish() throws(StoreError) {
        if current != nil { try write(before: nil) }
    }

    private func write(before tree: TreeVersion?) throws(StoreError) {
        guard let former = current ?? tree else { return }
        let payload = ByteBuffer()
        OperationChunk.begin(after: last, in: payload)
        OperationChunk.append(markBetween: former, tree, to: payload)
        defer { extendLifetime(payload) }
        last = try output.append(.operations, payload.view)
        current = tree
    }
}
