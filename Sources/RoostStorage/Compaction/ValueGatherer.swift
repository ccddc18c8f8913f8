import RoostBytes

/// Reads many chunks with few calls: in the order of their places in the file, near ones together.
final class ValueGatherer {
    private let file: DataFile
    /// Where the last commit that may be read ends.
    private let end: UInt64
    /// The chunks read last, as they stand in the file.
    let bytes = ByteBuffer(capacity: 1 << 16)
    /// Where in ``bytes`` each chunk starts, in the order in which they were asked for.
    private(set) var places: [Int] = []
    private let window = ByteBuffer(capacity: 1 << 16)
    private var order: [UInt64] = []

    /// How many chunks can be asked for at a time.
    static let most = 1 << 16
    /// Unwanted bytes between two chunks that are cheaper to read than to skip.
    private static let largestGap: UInt64 = 4096
    /// The most that is read with one call for several chunks.
    private static let largestWindow: UInt64 = 256 << 10

    init(file: DataFile, end: UInt64) {
        self.file = file
        self.end = end
    }

    /// Reads `chunks`, at most ``most``, into ``bytes``.
    func read(_ chunks: [ChunkReference]) throws(StoreError) {
        precondition(chunks.count <= ValueGatherer.most)
        arrange(chunks)
        var total = 0
        places.removeAll(keepingCapacity: true)
        for chunk in chunks {
            guard chunk.offset <= end, UInt64(chunk.length) <= end - chunk.offset else {
                throw file.damaged("a chunk that reaches beyond the last commit", chunk)
            }
            places.append(total)
            total += Int(chunk.length)
        }
        bytes.reset(keeping: 32 << 20)
        bytes.resize(to: total)
        var next = 0
        while next < order.count { next = try readRun(from: next, chunks) }
    }

    private func arrange(_ chunks: [ChunkReference]) {
        order.removeAll(keepingCapacity: true)
        var isSorted = true
        var last: UInt64 = 0
        for (index, chunk) in chunks.enumerated() {
            if chunk.offset < last { isSorted = false }
            last = chunk.offset
            order.append(chunk.offset << 16 | UInt64(index))
        }
        if !isSorted { order.sort() }
    }

    /// Reads the chunks that lie near the one at `start` in file order; returns where to go on.
    private func readRun(from start: Int, _ chunks: [ChunkReference]) throws(StoreError) -> Int {
        let first = Int(order[start] & 0xffff)
        let begin = chunks[first].offset
        var end = chunks[first].end
        var stop = start + 1
        while stop < order.count {
            let next = chunks[Int(order[stop] & 0xffff)]
            guard next.offset <= end + ValueGatherer.largestGap,
                next.end <= begin + ValueGatherer.largestWindow
            else { break }
            end = max(end, next.end)
            stop += 1
        }
        guard stop > start + 1 else {
            let target = unsafe bytes.mutableBytes
            let place = places[first]
            let part = place..<place + Int(chunks[first].length)
            unsafe try file.read(UnsafeMutableRawBufferPointer(rebasing: target[part]), at: begin)
            return stop
        }
        unsafe try file.read(window.emptied(toHold: Int(end - begin)), at: begin)
        let view = window.view
        for place in order[start..<stop] {
            let index = Int(place & 0xffff)
            let chunk = chunks[index]
            bytes.store(view.slice(Int(chunk.offset - begin), Int(chunk.length)), at: places[index])
        }
        return stop
    }

    /// The indices of the chunks that were asked for, in the order of their places.
    var inFileOrder: some Sequence<Int> { order.lazy.map { Int($0 & 0xffff) } }

    /// The chunk that was asked for as the `index`-th, valid until the next ``read(_:)``.
    func chunk(_ index: Int, _ reference: ChunkReference) -> ByteView {
        bytes.view.slice(places[index], Int(reference.length))
    }
}
