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

// MARK: - Read block

/// A block that is read: its documents, and the places of the present one.
struct ReadBlock {
    private var numbers: [Int] = []
    /// How many places each document has, once one of them was requested.
    private var counts: [Int] = []
    /// The present document's place among them.
    private var index = 0
    private let bytes = ByteBuffer(capacity: PostingBlock.size + 256)
    private var documents: PostingBlock.Documents?
    /// The document whose places begin at ``offset``.
    private var reached = 0
    private var offset = 0
    /// The places of the document ``known``, once they were requested.
    private var places: [TextPlace] = []
    private var known = -1

    mutating func read(
        _ block: ByteView, _ head: PostingBlock.Head, first: Int
    ) throws(MalformedBytes) {
        bytes.reset()
        bytes.append(block)
        var documents = PostingBlock.Documents(bytes.view, head)
        try documents.readNumbers(first: first, &numbers)
        self.documents = documents
        counts.removeAll(keepingCapacity: true)
        (index, reached, known) = (0, 0, -1)
    }

    /// Reads how many places each document has.
    private mutating func readCounts() throws(MalformedBytes) {
        guard counts.isEmpty, var documents else { return }
        offset = try documents.readCounts(&counts)
    }

    /// How many places there are in the present document.
    mutating func count() throws(MalformedBytes) -> Int {
        try readCounts()
        return counts.isEmpty ? 0 : counts[index]
    }

    /// Goes to the first document that is not less than `target`, and answers it; or the last one, where all are less.
    mutating func seek(_ target: Int) -> Int {
        var place = index
        let last = numbers.count - 1
        while place < last, numbers[place] < target { place += 1 }
        index = place
        return numbers[place]
    }

    /// Goes to the first document, not less than `target`, that has `least` places or more, and answers it; `nil` where none has.
    mutating func seek(_ target: Int, atLeast least: Int) throws(MalformedBytes) -> Int? {
        try readCounts()
        _ = seek(target)
        var place = index
        let last = numbers.count
        while place < last, counts[place] < least || numbers[place] < target { place += 1 }
        guard place < last else { return nil }
        index = place
        return numbers[place]
    }

    /// Reads the places of the present document, until another block is read.
    private mutating func reader(_ coder: PlaceCoder) throws(MalformedBytes) -> PlaceReader {
        try readCounts()
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

    /// How many places of this block have one of `other` at a distance that is in `distances`, in the present document of both;
    /// `most` where there are more. Places are read no further than that takes.
    mutating func count(
        beside other: inout ReadBlock, at distances: ClosedRange<Int>, upTo most: Int, _ coder: PlaceCoder
    ) throws(MalformedBytes) -> Int {
        var (starts, ends) = (try reader(coder), try other.reader(coder))
        guard var end = try ends.next() else { return 0 }
        var count = 0
        while count < most, let start = try starts.next() {
            let wanted = start.order + Int64(distances.lowerBound)
            while end.order < wanted {
                guard let next = try ends.next() else { return count }
                end = next
            }
            if end.order <= start.order + Int64(distances.upperBound) { count += 1 }
        }
        return count
    }

    /// Goes to the first document, not less than `target`, of both blocks in which a place of this block has one of `other` at one of
    /// the distances; `false` when one of them ends before `target`, which is that document otherwise.
    mutating func seek(
        _ target: inout Int, beside other: inout ReadBlock, at distances: ClosedRange<Int>,
        _ coder: PlaceCoder
    ) throws(MalformedBytes) -> Bool {
        while true {
            let own = seek(target)
            guard own >= target else { return false }
            target = own
            let others = other.seek(target)
            guard others >= target else { return false }
            if others == target, try count(beside: &other, at: distances, upTo: 1, coder) > 0 {
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

// MARK: - Term blocks

/// The blocks of one term in one segment, in the order of their documents.
protocol TermBlocks: AnyObject {
    /// Goes to the first block, or the one after the present one; `false` after the last.
    func next() throws(StoreError) -> Bool
    /// Goes to the last block that begins at or before a document, or else to the first one.
    func seek(_ document: Int) throws(StoreError) -> Bool
    /// The number of the first document in the present block.
    var first: Int { get }
    /// Calls `body` with the present block.
    func withBlock<R>(_ body: (ByteView) throws(StoreError) -> R) throws(StoreError) -> R
}

/// The blocks of a term in a tree.
final class StoredBlocks: TermBlocks {
    private let cursor: Cursor
    private let prefix: [UInt8]

    init(_ rows: TreeView, _ segment: UInt32, _ term: some Collection<UInt8>) {
        prefix = TextKeys.prefix(segment, term)
        cursor = rows.cursor(KeyRange(prefix: Key(prefix)))
    }

    func next() throws(StoreError) -> Bool { try cursor.next() }

    func seek(_ document: Int) throws(StoreError) -> Bool {
        if try cursor.seek(Key(prefix + TextKeys.bytes(document))), first == document { return true }
        if try cursor.previous() { return true }
        return try cursor.next()
    }

    var first: Int { TextKeys.number(cursor.keyView) }

    func withBlock<R>(_ body: (ByteView) throws(StoreError) -> R) throws(StoreError) -> R {
        let result = try body(try cursor.valueView())
        try cursor.checkMapping()
        return result
    }
}

/// The blocks of a term in memory.
final class MemoryBlocks: TermBlocks {
    typealias Block = (first: Int, bytes: [UInt8])

    private let blocks: [Block]
    private var index = -1

    init(_ blocks: [Block]) { self.blocks = blocks }

    func next() -> Bool {
        index += 1
        return index < blocks.count
    }

    func seek(_ document: Int) -> Bool {
        index = max((blocks.firstIndex { $0.first > document } ?? blocks.count) - 1, 0)
        return index < blocks.count
    }

    var first: Int { blocks[index].first }

    func withBlock<R>(_ body: (ByteView) throws(StoreError) -> R) throws(StoreError) -> R {
        try blocks[index].bytes.withView(body)
    }
}
