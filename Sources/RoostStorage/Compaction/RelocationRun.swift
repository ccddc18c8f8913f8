import RoostBytes
import RoostFile

/// Relocations in the order of their old offsets, in a scratch file. Look-ups that go upwards read each part once.
final class RelocationRun {
    private let file: any File
    /// Where in the file the run starts.
    let start: UInt64
    let count: Int
    /// How often its relocations were merged.
    let level: Int
    /// The relocations in memory, and the index of the first of them.
    private var window = SortedRelocations()
    private var windowStart = 0

    /// How many relocations are read at a time.
    private static let windowCount = 4096

    init(file: any File, start: UInt64, count: Int, level: Int) {
        self.file = file
        self.start = start
        self.count = count
        self.level = level
    }

    /// Where the value at `old` went; `nil` when it is not in this run. O(log n).
    func find(_ old: UInt64) throws(StoreError) -> ChunkReference? {
        try slide(to: old)
        return window.find(old)
    }

    /// Makes ``window`` the part in which `old` would be.
    private func slide(to old: UInt64) throws(StoreError) {
        if let first = window.first, let last = window.last, first.old <= old {
            if old <= last.old { return }
            if windowStart + window.count == count { return }
            try load(windowStart + window.count)
            if let last = window.last, old <= last.old { return }
        }
        var low = 0
        var high = (count + RelocationRun.windowCount - 1) / RelocationRun.windowCount - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if try read(middle * RelocationRun.windowCount, 1)[0].old <= old {
                low = middle
            } else {
                high = middle - 1
            }
        }
        try load(low * RelocationRun.windowCount)
    }

    private func load(_ index: Int) throws(StoreError) {
        window = SortedRelocations(try read(index, min(RelocationRun.windowCount, count - index)))
        windowStart = index
    }

    /// `length` relocations from `index` on.
    func read(_ index: Int, _ length: Int) throws(StoreError) -> [Relocation] {
        let offset = start + UInt64(index * Relocation.size)
        var result: Result<Void, StoreError> = .success(())
        let read = unsafe [Relocation](unsafeUninitializedCapacity: length) { memory, initialized in
            let bytes = UnsafeMutableRawBufferPointer(memory)
            result = Result { () throws(StoreError) in
                let count = try fileCall { () throws(FileError) in
                    unsafe try file.readFully(into: bytes, at: offset)
                }
                guard count == bytes.count else {
                    throw StoreError(.inputOutput, "\(file.path) lost bytes that were just written.")
                }
                initialized = length
            }
        }
        try result.get()
        return read
    }
}
