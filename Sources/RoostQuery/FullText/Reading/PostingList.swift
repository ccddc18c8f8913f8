import RoostBytes
import RoostStorage

/// Documents in the order of their numbers, with places in each.
class PostingList: DocumentCursor {
    /// The document that the list is at; `Int.max` after the last, -1 before the first.
    fileprivate(set) var document = -1
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

/// The documents of a block, and their places as far as they were asked for.
private struct ReadBlock {
    private var numbers: [Int] = []
    private var counts: [Int] = []
    /// The present document's place among them.
    private var index = 0
    /// The places of the documents up to one.
    private var places: [TextPlace] = []
    /// Where in ``places`` those of each of these documents end.
    private var ends: [Int] = []
    /// Where in the block the others begin.
    private var offset = 0

    /// How many places there are in the present document.
    var count: Int { counts[index] }
    /// Whether these were read.
    var hasPlaces: Bool { index < ends.count }
    /// These.
    var present: ArraySlice<TextPlace> { places[(index > 0 ? ends[index - 1] : 0)..<ends[index]] }

    mutating func read(
        _ bytes: ByteView, _ head: PostingBlock.Head, first: Int
    ) throws(MalformedBytes) {
        try PostingBlock.read(bytes, head, first: first, &numbers, &counts)
        index = 0
        places.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        offset = head.start + head.size
    }

    /// Goes to the first document that is not less than `target`, and answers it. The last one is not.
    mutating func seek(_ target: Int) -> Int {
        while numbers[index] < target { index += 1 }
        return numbers[index]
    }

    /// Reads the places of documents up to the present one; of all in the block, when it is not the first that is asked for.
    mutating func readPlaces(_ bytes: ByteView, _ coder: PlaceCoder) throws(MalformedBytes) {
        let documents = ends.count...(ends.isEmpty ? index : counts.count - 1)
        var start = places.count
        for document in documents {
            ends.append((ends.last ?? 0) + (coder.hasPlaces ? counts[document] : 0))
        }
        var reader = ByteReader(bytes)
        _ = try reader.view(offset)
        let total = ends[documents.upperBound] - start
        // Each takes a byte at least.
        guard total <= reader.remaining else { throw MalformedBytes(at: offset) }
        places.append(contentsOf: repeatElement(.none, count: total))
        let ends = ends
        var span = places.mutableSpan
        for document in documents {
            try coder.read(&reader, into: &span, start..<ends[document])
            start = ends[document]
        }
        offset = reader.position
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
        if !block.hasPlaces {
            try blocks.withBlock { (bytes) throws(StoreError) in
                try TextDamage.guarding { () throws(MalformedBytes) in try block.readPlaces(bytes, coder) }
            }
        }
        return block.present
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

/// The documents of any of some lists, such as those of all terms with a beginning.
final class UnionPostings: PostingList {
    /// A heap: the list with the least document first.
    private var lists: [PostingList]
    /// The lists that are at the present document.
    private var present: [PostingList] = []

    init(_ lists: [PostingList]) { self.lists = lists }

    /// All documents of the lists, whose numbers are in `documents`, gathered now; the lists can't be used afterwards. `nil` when
    /// these are too many to be gathered in memory.
    func gathered(in documents: Range<Int>) throws -> PostingList? {
        guard let gathered = GatheredPostings(documents) else { return nil }
        for list in lists { try gathered.add(list) }
        return gathered
    }

    override var count: Int { present.reduce(0) { $0 + $1.count } }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        if document == -1 {
            for list in lists { try list.seek(target) }
            lists = lists.filter { $0.document != PostingList.end }.sorted { $0.document < $1.document }
        } else {
            for list in present {
                try list.seek(target)
                if list.document != PostingList.end { push(list) }
            }
            while let first = lists.first, first.document < target {
                pop()
                try first.seek(target)
                if first.document != PostingList.end { push(first) }
            }
        }
        present.removeAll(keepingCapacity: true)
        document = lists.first?.document ?? PostingList.end
        while let first = lists.first, first.document == document, document != PostingList.end {
            present.append(first)
            pop()
        }
    }

    private func push(_ list: PostingList) {
        lists.append(list)
        var index = lists.count - 1
        while index > 0, lists[index].document < lists[(index - 1) / 2].document {
            lists.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private func pop() {
        lists.swapAt(0, lists.count - 1)
        lists.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < lists.count && lists[child].document < lists[least].document {
                least = child
            }
            if least == index { return }
            lists.swapAt(index, least)
            index = least
        }
    }

    override func places() throws -> ArraySlice<TextPlace> {
        guard present.count > 1 else { return try present.first?.places() ?? [] }
        return try present.flatMap { try $0.places() }.sorted()[...]
    }
}

/// The documents of any of some lists, without their places: quicker than ``UnionPostings`` where there are many lists and every
/// document is wanted.
final class GatheredPostings: PostingList {
    /// So many bits take 16 MiB.
    private static let mostDocuments = 1 << 27

    private let documents: Range<Int>
    /// A bit for each document, set where one of the lists has it.
    private var words: [UInt64]
    private var (numbers, counts): ([Int], [Int]) = ([], [])

    /// Of no list yet; `nil` where there are too many documents to keep in memory.
    init?(_ documents: Range<Int>) {
        guard documents.count <= Self.mostDocuments else { return nil }
        self.documents = documents
        words = Array(repeating: 0, count: (documents.count + 63) / 64)
    }

    /// Adds the documents of a list, which can't be used afterwards.
    func add(_ list: PostingList) throws {
        try list.seek(0)
        while list.document != PostingList.end {
            try insert(list.document)
            try list.seek(list.document + 1)
        }
    }

    /// Adds the documents of a block.
    func add(first: Int, _ block: ByteView) throws {
        try TextDamage.guarding { () throws(MalformedBytes) in
            let head = try PostingBlock.Head(block, first: first)
            try PostingBlock.read(block, head, first: first, &numbers, &counts)
        }
        for number in numbers { try insert(number) }
    }

    private func insert(_ document: Int) throws(StoreError) {
        guard documents.contains(document) else { throw TextDamage.error }
        let bit = document - documents.lowerBound
        words[bit / 64] |= 1 << UInt64(bit % 64)
    }

    override var count: Int { 1 }

    override func seek(_ target: Int) {
        guard document < target else { return }
        let start = max(target - documents.lowerBound, 0)
        var index = start / 64
        guard index < words.count else { return document = PostingList.end }
        var word = words[index] & (.max << UInt64(start % 64))
        while word == 0 {
            index += 1
            guard index < words.count else { return document = PostingList.end }
            word = words[index]
        }
        document = documents.lowerBound + index * 64 + word.trailingZeroBitCount
    }
}
