import RoostBytes
import RoostStorage

/// Documents in the order of their numbers, with places in each.
class PostingList: DocumentCursor {
    /// The document that the list is at; `Int.max` after the last, -1 before the first.
    final var document = -1
    /// How many places there are in it.
    var count: Int { 0 }

    /// Goes to the first document that is not less than `target`.
    func seek(_ target: Int) throws { document = .max }

    /// The places in the present document, sorted.
    func places() throws -> ArraySlice<TextPlace> { [] }

    /// The largest number of places that a document from `target` on has, and how long it is at least, up to a `last` one;
    /// `nil` where that isn't known. May be asked for what the next call of ``seek(_:)`` goes to, or for less.
    func bound(from target: Int) throws -> (most: Int, shortest: Int, last: Int)? { nil }

    /// How many documents the list has at most, as far as that is known without reading it.
    func estimate() throws -> Int { 0 }

    static let end = Int.max
}

/// A block that is read: its documents, and the places of the present one.
private struct ReadBlock {
    private var numbers: [Int] = []
    private var counts: [Int] = []
    /// The present document's place among them.
    private var index = 0
    private let bytes = ByteBuffer(capacity: PostingBlock.size + 256)
    /// The document whose places begin at ``offset``.
    private var reached = 0
    private var offset = 0
    /// The places of the document ``known``, once they were asked for.
    private var places: [TextPlace] = []
    private var known = -1

    /// How many places there are in the present document.
    var count: Int { counts[index] }

    mutating func read(
        _ block: ByteView, _ head: PostingBlock.Head, first: Int
    ) throws(MalformedBytes) {
        bytes.reset()
        bytes.append(block)
        try PostingBlock.read(block, head, first: first, &numbers, &counts)
        (index, reached, known) = (0, 0, -1)
        offset = head.start + head.size
    }

    /// Goes to the first document that is not less than `target`, and answers it; or the last one, where all are less.
    mutating func seek(_ target: Int) -> Int {
        var place = index
        let last = numbers.count - 1
        while place < last, numbers[place] < target { place += 1 }
        index = place
        return numbers[place]
    }

    /// Reads the places of the present document, until another block is read.
    private mutating func reader(_ coder: PlaceCoder) throws(MalformedBytes) -> PlaceReader {
        if reached < index {
            var passed = 0
            for document in reached..<index { passed += counts[document] }
            var reader = ByteReader(bytes.view.dropFirst(offset))
            try coder.skip(passed, &reader)
            offset += reader.position
            reached = index
        }
        return coder.places(counts[index], in: bytes.view.dropFirst(offset))
    }

    /// How often a place of `other` comes `distance` after one of this block, in the present document of both; `most` where it is
    /// more often. Places are read no further than that takes.
    mutating func count(
        followedBy other: inout ReadBlock, at distance: Int, upTo most: Int, _ coder: PlaceCoder
    ) throws(MalformedBytes) -> Int {
        var (starts, ends) = (try reader(coder), try other.reader(coder))
        guard var end = try ends.next() else { return 0 }
        var count = 0
        while count < most, let start = try starts.next() {
            let wanted = start.order + distance
            while end.order < wanted {
                guard let next = try ends.next() else { return count }
                end = next
            }
            if end.order == wanted { count += 1 }
        }
        return count
    }

    /// Goes to the first document, not less than `target`, of both blocks in which a place of `other` comes `distance` after one of
    /// this block; `false` when one of them ends before `target`, which is that document otherwise.
    mutating func seek(
        _ target: inout Int, followedBy other: inout ReadBlock, at distance: Int, _ coder: PlaceCoder
    ) throws(MalformedBytes) -> Bool {
        while true {
            let own = seek(target)
            guard own >= target else { return false }
            target = own
            let others = other.seek(target)
            guard others >= target else { return false }
            if others == target, try count(followedBy: &other, at: distance, upTo: 1, coder) > 0 {
                return true
            }
            target = max(others, own + 1)
        }
    }

    /// The places of the present document.
    mutating func places(_ coder: PlaceCoder) throws(MalformedBytes) -> ArraySlice<TextPlace> {
        if known != index {
            var reader = try reader(coder)
            places.removeAll(keepingCapacity: true)
            while let place = try reader.next() { places.append(place) }
            known = index
        }
        return places[...]
    }
}

/// The documents of one term in one segment.
final class TermPostings: PostingList {
    private let blocks: any TermBlocks
    private let coder: PlaceCoder
    private var head: PostingBlock.Head?
    private var first = 0
    /// Whether the present block's documents were read.
    private var isRead = false
    private var block = ReadBlock()

    init(_ blocks: any TermBlocks, _ coder: PlaceCoder) {
        self.blocks = blocks
        self.coder = coder
    }

    override var count: Int { isRead ? block.count : 0 }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        if try !reach(target) { return document = PostingList.end }
        try readBlock()
        document = block.seek(target)
    }

    override func bound(from target: Int) throws -> (most: Int, shortest: Int, last: Int)? {
        if document != PostingList.end {
            if try reach(target), let head { return (head.most, head.shortest, head.last) }
            document = PostingList.end
        }
        return (0, 0, PostingList.end)
    }

    /// Goes to the block that has the first document not less than `target`; `false` when there is none.
    private func reach(_ target: Int) throws(StoreError) -> Bool {
        if let head, target <= head.last { return true }
        var isThere = try blocks.next()
        if isThere { try readHead() }
        if isThere, let head, target > head.last {
            isThere = try blocks.seek(target)
            if isThere { try readHead() }
            while isThere, let head = self.head, target > head.last {
                isThere = try blocks.next()
                if isThere { try readHead() }
            }
        }
        if !isThere { head = nil }
        return isThere
    }

    private func readHead() throws(StoreError) {
        let first = blocks.first
        if let head {
            // Looking further may lead to where we are.
            if first == self.first { return }
            // Blocks go upwards, whatever the bytes say, so that reading ends.
            guard first > head.last else { throw TextDamage.error }
        }
        self.first = first
        head = try blocks.withBlock { (bytes) throws(StoreError) in
            try TextDamage.guarding { () throws(MalformedBytes) in try PostingBlock.Head(bytes, first: first)
            }
        }
        isRead = false
    }

    private func readBlock() throws(StoreError) {
        guard !isRead, let head else { return }
        let first = first
        try blocks.withBlock { (bytes) throws(StoreError) in
            try TextDamage.guarding { () throws(MalformedBytes) in try block.read(bytes, head, first: first) }
        }
        isRead = true
    }

    override func places() throws -> ArraySlice<TextPlace> {
        try TextDamage.guarding { () throws(MalformedBytes) in try block.places(coder) }
    }

    /// Goes, with another list, to the first document from `target` on in which a place of that comes `distance` after one of this
    /// list: both are at its end where there is none.
    func seek(_ target: Int, followedBy next: TermPostings, at distance: Int) throws {
        var target = target
        while try reach(target), try next.reach(target) {
            try readBlock()
            try next.readBlock()
            // As long as both blocks last, in one access to each.
            let isFound = try TextDamage.guarding { () throws(MalformedBytes) in
                try block.seek(&target, followedBy: &next.block, at: distance, coder)
            }
            guard isFound else { continue }
            document = target
            next.document = target
            return
        }
        document = PostingList.end
        next.document = PostingList.end
    }

    /// How often a place of another list, which is at the same document, comes `distance` after one of this list there.
    func count(followedBy next: TermPostings, at distance: Int) throws -> Int {
        try TextDamage.guarding { () throws(MalformedBytes) in
            try block.count(followedBy: &next.block, at: distance, upTo: .max, coder)
        }
    }

    override func estimate() throws -> Int {
        var total = 0
        while try blocks.next() {
            let first = blocks.first
            total += try blocks.withBlock { (bytes) throws(StoreError) in
                try TextDamage.guarding { () throws(MalformedBytes) in
                    try PostingBlock.Head(bytes, first: first).count
                }
            }
        }
        return total
    }
}

/// The documents of a list that have places which `isKept` keeps.
final class FilteredPostings: PostingList {
    private let list: PostingList
    private let isKept: (TextPlace) -> Bool
    private var kept: [TextPlace] = []

    init(_ list: PostingList, _ isKept: @escaping (TextPlace) -> Bool) {
        self.list = list
        self.isKept = isKept
    }

    override var count: Int { kept.count }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        try list.seek(target)
        while list.document != PostingList.end {
            kept = try list.places().filter(isKept)
            if !kept.isEmpty { break }
            try list.seek(list.document + 1)
        }
        document = list.document
    }

    override func places() -> ArraySlice<TextPlace> { kept[...] }

    override func bound(from target: Int) throws -> (most: Int, shortest: Int, last: Int)? {
        try list.bound(from: target)
    }
}
