/// The bytes of a file in memory, in pages, so that a file that grows is not copied. Pages that were never written are zeros
/// and take no memory.
struct MemoryContents {
    private static let pageSize = 64 << 10
    /// More can't be had in one process.
    private static let largestSize: UInt64 = 1 << 44

    private var pages: [[UInt8]] = []
    private(set) var size: UInt64 = 0

    /// Copies what there is at `offset`; returns how many bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        guard offset < size else { return 0 }
        let count = min(buffer.count, Int(size - offset))
        var done = 0
        while done < count {
            let (page, start) = Self.place(offset + UInt64(done))
            let length = min(Self.pageSize - start, count - done)
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length])
            if page < pages.count, !pages[page].isEmpty {
                unsafe pages[page].withUnsafeBytes {
                    unsafe target.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: $0[start..<start + length]))
                }
            } else {
                unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
            }
            done += length
        }
        return count
    }

    /// Writes all of `bytes` at `offset`; `false` where no file could be so large.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        let (end, overflows) = offset.addingReportingOverflow(UInt64(bytes.count))
        guard !overflows, end <= Self.largestSize else { return false }
        var done = 0
        while done < bytes.count {
            let (page, start) = Self.place(offset + UInt64(done))
            let length = min(Self.pageSize - start, bytes.count - done)
            let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[done..<done + length])
            while pages.count <= page { pages.append([]) }
            if pages[page].isEmpty { pages[page] = [UInt8](repeating: 0, count: Self.pageSize) }
            unsafe pages[page].withUnsafeMutableBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + length]).copyMemory(
                    from: source)
            }
            done += length
        }
        if bytes.count > 0 { size = max(size, end) }
        return true
    }

    /// Cuts the file, or extends it with zeros; `false` where no file could be so large.
    mutating func truncate(to newSize: UInt64) -> Bool {
        guard newSize <= Self.largestSize else { return false }
        if newSize < size {
            let (page, start) = Self.place(newSize)
            let kept = start == 0 ? page : page + 1
            if kept < pages.count { pages.removeLast(pages.count - kept) }
            if start > 0, page < pages.count, !pages[page].isEmpty {
                for index in start..<Self.pageSize { pages[page][index] = 0 }
            }
        }
        size = newSize
        return true
    }

    private static func place(_ offset: UInt64) -> (page: Int, start: Int) {
        (Int(offset / UInt64(pageSize)), Int(offset % UInt64(pageSize)))
    }
}
