/// A run of bytes in a file, cut where pages (or any other units of fixed size) meet.
struct PageParts: Sequence, IteratorProtocol {
    struct Part {
        /// The page's number in the file.
        var page: UInt64
        /// Where the part lies in its page.
        var inPage: Range<Int>
        /// Where the part lies in the run.
        var source: Range<Int>
    }

    private let offset: UInt64
    private let count: Int
    private let unit: Int
    private var done = 0

    init(offset: UInt64, count: Int, unit: Int = FileImage.pageSize) {
        self.offset = offset
        self.count = count
        self.unit = unit
    }

    mutating func next() -> Part? {
        guard done < count else { return nil }
        let position = offset + UInt64(done)
        let start = Int(position % UInt64(unit))
        let length = Swift.min(unit - start, count - done)
        defer { done += length }
        return Part(
            page: position / UInt64(unit), inPage: start..<start + length, source: done..<done + length)
    }
}
