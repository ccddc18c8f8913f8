import RoostBytes

/// What the copiers of all trees share.
final class CopyTarget {
    let output: CommitBuffer
    let nodeSize: Int
    let relocations: Relocations
    let gatherer: ValueGatherer
    let pace: CompactionPace
    let marks: TreeMarks
    /// Bytes of keys and values that are read and copied at a time.
    let batchSize: Int

    init(
        output: CommitBuffer, nodeSize: Int, relocations: Relocations, gatherer: ValueGatherer,
        pace: CompactionPace, marks: TreeMarks, batchSize: Int
    ) {
        self.output = output
        self.nodeSize = nodeSize
        self.relocations = relocations
        self.gatherer = gatherer
        self.pace = pace
        self.marks = marks
        self.batchSize = batchSize
    }

    /// Bytes of the new file and of scratch so far.
    var writtenEnd: UInt64 { output.end + relocations.scratchEnd }
}
