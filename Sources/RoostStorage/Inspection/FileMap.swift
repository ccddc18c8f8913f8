/// What each part of a file is used for, in cells of equal length: a picture of the file, of bounded size whatever the
/// file's.
public struct FileMap: Sendable {
    /// The length of a cell, a multiple of a block of 4096 bytes; the last cell may reach beyond the file.
    public let cellBytes: UInt64
    /// How many cells there are.
    public let count: Int
    /// Live bytes and dead bytes of each content, cell after cell.
    private var bytes: [UInt32]

    private static let perCell = FileContent.allCases.count * 2

    /// A map of a file of `size` bytes with at most `limit` cells.
    init(size: UInt64, limit: Int) {
        let block = UInt64(Format.blockSize)
        var length = block
        // Doubling keeps cells comparable between files; 32 bits count the bytes of one up to the largest file.
        while length < 1 << 31, (size + length - 1) / length > UInt64(max(limit, 1)) { length *= 2 }
        cellBytes = length
        count = Int((size + length - 1) / length)
        bytes = [UInt32](repeating: 0, count: count * FileMap.perCell)
    }

    /// The bytes of cell `index` that are of the given content and alive, or dead.
    public func bytes(of content: FileContent, isLive: Bool, in index: Int) -> UInt64 {
        UInt64(bytes[FileMap.place(content, isLive, index)])
    }

    private static func place(_ content: FileContent, _ isLive: Bool, _ index: Int) -> Int {
        index * perCell + content.rawValue * 2 + (isLive ? 0 : 1)
    }

    /// Adds bytes that are dead until ``revive(_:_:)`` says otherwise. What lies outside the file is left out.
    mutating func add(_ range: Range<UInt64>, _ content: FileContent) {
        forCells(range) { map, index, count in map.bytes[FileMap.place(content, false, index)] &+= count }
    }

    /// Makes dead bytes live.
    mutating func revive(_ range: Range<UInt64>, _ content: FileContent) {
        forCells(range) { map, index, count in
            let dead = FileMap.place(content, false, index)
            let moved = min(count, map.bytes[dead])
            map.bytes[dead] -= moved
            map.bytes[FileMap.place(content, true, index)] &+= moved
        }
    }

    private mutating func forCells(
        _ range: Range<UInt64>, _ body: (inout FileMap, _ index: Int, _ count: UInt32) -> Void
    ) {
        var position = range.lowerBound
        while position < range.upperBound, position / cellBytes < UInt64(count) {
            let index = position / cellBytes
            let end = min(range.upperBound, (index + 1) * cellBytes)
            body(&self, Int(index), UInt32(truncatingIfNeeded: end - position))
            position = end
        }
    }
}
