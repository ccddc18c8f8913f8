import RoostBytes
import RoostStorage

/// Documents in the order of their numbers, with places in each.
class PostingList: MatchCursor {
    /// The document that the list is at; `Int.max` after the last, -1 before the first.
    final var document = -1
    /// How many places there are in it.
    func count() throws -> Int { 0 }

    /// Goes to the first document that is not less than `target`.
    func seek(_ target: Int) throws { document = .max }

    /// The places in the present document, sorted.
    func places() throws -> ArraySlice<TextPlace> { [] }

    /// The largest number of places that a document from `target` on has, and how long it is at least, up to a `last` one;
    /// `nil` where that isn't known. May be asked for what the next call of ``seek(_:)`` goes to, or for less.
    func bound(from target: Int) throws -> (most: Int, shortest: Int, last: Int)? { nil }

    /// How many documents there are in all, asked before any is gone to. The list can't be used afterwards.
    func total() throws -> Int {
        var total = 0
        try forEach { _ in total += 1 }
        return total
    }

    static let end = Int.max
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

    override func count() throws -> Int {
        try TextDamage.guarding { () throws(MalformedBytes) in try block.count() }
    }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        if try !reach(target) { return document = PostingList.end }
        try readBlock()
        document = block.seek(target)
    }

    /// Goes to the first document from `target` on that has `least` places or more and is in the block that ``bound(from:)`` has
    /// told of; `false` where there is none.
    func seekInBlock(_ target: Int, atLeast least: Int) throws -> Bool {
        try readBlock()
        let found = try TextDamage.guarding { () throws(MalformedBytes) in
            try block.seek(target, atLeast: least)
        }
        guard let found else { return false }
        document = found
        return true
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

    /// Goes, with another list, to the first document from `target` on in which a place of that comes after one of this list, at one
    /// of the distances, or before it where these are negative: both are at its end where there is none.
    func seek(_ target: Int, beside next: TermPostings, at distances: ClosedRange<Int>) throws {
        var target = target
        while try reach(target), try next.reach(target) {
            try readBlock()
            try next.readBlock()
            // As long as both blocks last, in one access to each.
            let isFound = try TextDamage.guarding { () throws(MalformedBytes) in
                try block.seek(&target, beside: &next.block, at: distances, coder)
            }
            guard isFound else { continue }
            document = target
            next.document = target
            return
        }
        document = PostingList.end
        next.document = PostingList.end
    }

    /// How many places of this list have one of another list, which is at the same document, at one of the distances there.
    func count(beside next: TermPostings, at distances: ClosedRange<Int>) throws -> Int {
        try TextDamage.guarding { () throws(MalformedBytes) in
            try block.count(beside: &next.block, at: distances, upTo: .max, coder)
        }
    }

    override func total() throws -> Int {
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

    override func count() -> Int { kept.count }

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
