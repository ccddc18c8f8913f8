import RoostBytes
import RoostStorage

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

    override func count() throws -> Int { try present.reduce(0) { try $0 + $1.count() } }

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
    /// Documents that are added next.
    private var numbers: [Int] = []

    /// Of no list yet; `nil` where there are too many documents to keep in memory.
    init?(_ documents: Range<Int>) {
        guard documents.count <= Self.mostDocuments else { return nil }
        self.documents = documents
        words = Array(repeating: 0, count: (documents.count + 63) / 64)
    }

    /// Adds the documents of a list, which can't be used afterwards.
    func add(_ list: PostingList) throws {
        numbers.removeAll(keepingCapacity: true)
        try list.forEach { document in
            numbers.append(document)
            guard numbers.count == PostingBlock.size else { return }
            try insert(numbers)
            numbers.removeAll(keepingCapacity: true)
        }
        try insert(numbers)
    }

    /// Adds the documents of a block.
    func add(first: Int, _ block: ByteView) throws {
        try TextDamage.guarding { () throws(MalformedBytes) in
            let head = try PostingBlock.Head(block, first: first)
            var documents = PostingBlock.Documents(block, head)
            try documents.readNumbers(first: first, &numbers)
        }
        try insert(numbers)
    }

    private func insert(_ added: [Int]) throws(StoreError) {
        var words = words.mutableSpan
        for document in added {
            guard documents.contains(document) else { throw TextDamage.error }
            let bit = document - documents.lowerBound
            words[bit / 64] |= 1 << UInt64(bit % 64)
        }
    }

    override func count() -> Int { 1 }

    override func total() -> Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

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

// MARK: - Every document

/// The documents of a stored segment, by their IDs: however far their numbers lie apart, what is read are entries that there are.
final class StoredDocuments: MatchCursor {
    private let cursor: Cursor
    private(set) var document = -1

    init(_ rows: TreeView, _ documents: Range<Int>) { cursor = rows.cursor(TextKeys.ids(documents)) }

    func seek(_ target: Int) throws {
        guard document < target else { return }
        let isNext = document >= 0 && target == document + 1
        let isThere = isNext ? try cursor.next() : try cursor.seek(TextKeys.id(target))
        document = isThere ? TextKeys.number(cursor.keyView) : .max
        guard document >= target else { throw TextDamage.error }
    }
}

/// All numbers of a segment in memory.
final class MemoryDocuments: MatchCursor {
    private let documents: Range<Int>
    private(set) var document = -1

    init(_ documents: Range<Int>) { self.documents = documents }

    func seek(_ target: Int) {
        let next = max(target, documents.lowerBound)
        document = next < documents.upperBound ? next : .max
    }
}
