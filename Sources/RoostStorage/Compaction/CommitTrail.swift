/// The commits that follow one commit up to another, oldest first, though a record names only the one before it.
///
/// Walks back twice: first noting a record here and there, in bounded memory, then from note to note.
struct CommitTrail {
    private let scanner: LogScanner
    private let after: UInt64
    /// Records on the way, the newest first.
    private var marks: [UInt64] = []
    /// The records up to the mark that was taken last, the newest first.
    private var segment: [CommitRecord] = []
    private var position: UInt64

    /// - Parameter limit: how many notes to keep.
    init(
        _ scanner: LogScanner, after first: CommitRecord, through last: CommitRecord, limit: Int = 1 << 14
    ) throws(StoreError) {
        self.scanner = scanner
        after = first.offset
        position = first.offset
        var stride = 1
        var steps = 0
        var current: CommitRecord? = last
        while let record = current, record.offset > after {
            if steps % stride == 0 { marks.append(record.offset) }
            if marks.count > limit {
                marks = marks.indices.filter { $0 % 2 == 0 }.map { marks[$0] }
                stride *= 2
            }
            steps += 1
            current = try scanner.previous(of: record)
        }
    }

    /// The next commit; `nil` after the last.
    mutating func next() throws(StoreError) -> CommitRecord? {
        if segment.isEmpty {
            guard let mark = marks.popLast() else { return nil }
            var current = try scanner.record(at: mark)
            while let record = current, record.offset > position {
                segment.append(record)
                current = try scanner.previous(of: record)
            }
            position = mark
        }
        return segment.popLast()
    }
}
