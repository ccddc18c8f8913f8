import RoostBytes

/// Documents of one segment that a part of a query matches, in the order of their numbers.
class TextMatcher: MatchCursor {
    /// The document that it is at; `Int.max` after the last, -1 before the first.
    var document = -1
    /// What was requested last of ``bound(from:)``, which holds for documents that come later, too.
    private var known = ScoreBound(most: 0, last: -1)

    /// Goes to the first document that is not less than `target`.
    func seek(_ target: Int) throws { document = .max }

    /// As ``seek(_:)``, and may pass over documents whose score is not above `threshold`.
    ///
    /// Blocks of documents are passed over unread that can't have such a one, by what they say of themselves (S. Ding and T. Suel,
    /// "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011).
    func seek(_ target: Int, above threshold: Double) throws {
        guard threshold > 0 else { return try seek(target) }
        guard document < target else { return }
        var target = target
        while target < .max {
            if target > known.last { known = try bound(from: target) }
            guard known.most > threshold else {
                target = known.next
                continue
            }
            try seek(target)
            if document <= known.last { return }
            target = document
        }
        document = .max
    }

    /// The most that documents from `target` on can score. It may be asked for what the next call of ``seek(_:)`` goes to, or
    /// for less.
    func bound(from target: Int) throws -> ScoreBound { .nothing }

    /// The score of the present document.
    func score() throws -> Double { 0 }
}

/// The most that some neighbouring documents can score.
struct ScoreBound {
    var most: Double
    /// The last of these documents.
    var last: Int

    /// There are no more.
    static let nothing = ScoreBound(most: 0, last: .max)
    static let unknown = ScoreBound(most: .infinity, last: .max)

    /// The first document that it says nothing of.
    var next: Int { last < .max ? last + 1 : .max }

    /// What documents can score that have several parts, up to where all of these are known.
    mutating func add(_ other: ScoreBound) {
        most += other.most
        last = min(last, other.last)
    }
}

extension Sequence where Element: TextMatcher {
    /// The most that documents can score for all of the parts together.
    func bound(from target: Int) throws -> ScoreBound {
        var sum = ScoreBound.nothing
        for part in self { sum.add(try part.bound(from: target)) }
        return sum
    }
}

/// The documents with a phrase.
final class PhraseMatcher: TextMatcher {
    let leaf: TextLeaf
    private let lists: [PostingList]
    /// The lists of a phrase that is two words anywhere, for which no places have to be gathered, and how far apart these are.
    private let pair: (first: TermPostings, second: TermPostings, distances: ClosedRange<Int>)?
    /// The list of a phrase that is one word anywhere, unless it is put together of several.
    private let word: TermPostings?
    private let scoring: LeafScoring?
    private var starts: ArraySlice<TextPlace>?

    private init(_ leaf: TextLeaf, _ lists: [PostingList], _ scoring: LeafScoring?) {
        self.leaf = leaf
        self.lists = lists
        self.scoring = scoring
        word = leaf.isPlain ? lists[0] as? TermPostings : nil
        if lists.count == 2, leaf.columns == nil, !leaf.isAnchored, let first = lists[0] as? TermPostings,
            let second = lists[1] as? TermPostings
        {
            pair = (first, second, leaf.slots[1].offset...leaf.slots[1].offset)
        } else {
            pair = nil
        }
    }

    convenience init(_ leaf: TextLeaf, _ lists: TermLists, _ scoring: LeafScoring?) throws {
        self.init(leaf, try leaf.slots.map { try lists.list($0.terms) }, scoring)
    }

    /// Matches every document with the phrase, of which neither the places nor the score will be asked for.
    convenience init(everyDocumentWith leaf: TextLeaf, _ lists: TermLists) throws {
        self.init(
            leaf,
            leaf.isPlain
                ? [try lists.documents(leaf.slots[0].terms)]
                : try leaf.slots.map { try lists.list($0.terms) },
            nil)
    }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        if let pair {
            starts = nil
            try pair.first.seek(target, beside: pair.second, at: pair.distances)
            return document = pair.first.document
        }
        if leaf.isPlain {
            starts = nil
            try lists[0].seek(target)
            return document = lists[0].document
        }
        var target = target
        while true {
            // Before the lists go on: they read the next places into the memory of these, if no other object has it.
            starts = nil
            guard try lists.align(&target) else { return document = .max }
            document = target
            if try !places().isEmpty { return }
            target += 1
        }
    }

    /// Whether ``seek(_:near:within:)`` can be used.
    var isWord: Bool { word != nil }

    /// Goes, with another matcher of one word, to the first document from `target` on in which the two are no more than so many
    /// places apart.
    func seek(_ target: Int, near other: PhraseMatcher, within distance: Int) throws {
        guard let word, let otherWord = other.word else { return }
        (starts, other.starts) = (nil, nil)
        // Places in different columns are further apart than any in one.
        let distance = min(distance, TextPlace.lastPosition)
        try word.seek(target, beside: otherWord, at: -distance...distance)
        (document, other.document) = (word.document, otherWord.document)
    }

    /// Of a word, documents with too few places are passed over, however long they are.
    override func seek(_ target: Int, above threshold: Double) throws {
        guard threshold > 0, let scoring, let word else {
            return try super.seek(target, above: threshold)
        }
        guard document < target else { return }
        starts = nil
        var target = target
        while let block = try word.bound(from: target), block.last < .max {
            let least = scoring.leastCount(above: threshold, shortest: block.shortest)
            if least <= block.most, try word.seekInBlock(target, atLeast: least) {
                return document = word.document
            }
            target = block.last + 1
        }
        document = .max
    }

    override func bound(from target: Int) throws -> ScoreBound {
        guard document < .max else { return .nothing }
        guard let scoring else { return .nothing }
        // A phrase stands no more often than any of its words, in documents that are as long as each of them says.
        var (most, shortest, last) = (Int.max, 0, Int.max)
        for list in lists {
            guard let known = try list.bound(from: target) else { return .unknown }
            most = min(most, known.most)
            shortest = max(shortest, known.shortest)
            last = min(last, known.last)
        }
        return ScoreBound(most: scoring.most(most, shortest), last: last)
    }

    /// Where the phrase begins in the present document.
    func places() throws -> ArraySlice<TextPlace> {
        if let starts { return starts }
        var found = try lists[0].places()
        if let columns = leaf.columns { found = found.filter { columns[$0.column] }[...] }
        if leaf.isAnchored { found = found.filter { $0.position == 0 }[...] }
        for (slot, list) in zip(leaf.slots, lists).dropFirst() {
            guard !found.isEmpty else { break }
            let places = try list.places()
            var index = places.startIndex
            found =
                found.filter { start in
                    let wanted = start.order + Int64(slot.offset)
                    while index < places.endIndex, places[index].order < wanted { index += 1 }
                    return index < places.endIndex && places[index].order == wanted
                }[...]
        }
        starts = found
        return found
    }

    /// How many times the phrase stands in the present document.
    private func count() throws -> Int {
        if leaf.isPlain { return try lists[0].count() }
        if let pair { return try pair.first.count(beside: pair.second, at: pair.distances) }
        return try places().count
    }

    /// What the places of the phrase in the present document count for.
    ///
    /// - Parameter weights: by column; `nil` where all are 1.
    func frequency(_ weights: [Double]?) throws -> Double {
        weights == nil ? Double(try count()) : Self.frequency(of: try places(), weights)
    }

    private static func frequency(of places: some RandomAccessCollection<TextPlace>, _ weights: [Double]?)
        -> Double
    {
        weights.map { weights in places.reduce(0) { $0 + weights[$1.column] } } ?? Double(places.count)
    }

    override func score() throws -> Double {
        try scoring.map { try $0.score(frequency($0.weights), document) } ?? 0
    }

    /// The score of some places of the present document.
    func score(of places: some RandomAccessCollection<TextPlace>) throws -> Double {
        try scoring.map { try $0.score(Self.frequency(of: places, $0.weights), document) } ?? 0
    }
}

/// The documents that all of some parts match, and none of others.
final class AllMatcher: TextMatcher {
    private let parts: [TextMatcher]
    private let excluded: [TextMatcher]

    init(_ parts: [TextMatcher], except excluded: [TextMatcher]) {
        self.parts = parts
        self.excluded = excluded
    }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        var target = target
        search: while true {
            guard try parts.align(&target) else { return document = .max }
            for part in excluded {
                try part.seek(target)
                if part.document == target {
                    target += 1
                    continue search
                }
            }
            return document = target
        }
    }

    override func bound(from target: Int) throws -> ScoreBound {
        document < .max ? try parts.bound(from: target) : .nothing
    }

    override func score() throws -> Double { try parts.reduce(0) { try $0 + $1.score() } }
}

/// The documents that any of some parts matches.
final class AnyMatcher: TextMatcher {
    private let parts: [TextMatcher]
    /// The parts one of which a document has to match up to ``last`` to score more than ``threshold``, and the others.
    private var (needed, others): ([TextMatcher], [TextMatcher]) = ([], [])
    private var last = -1
    private var threshold = 0.0

    init(_ parts: [TextMatcher]) { self.parts = parts }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        var least = Int.max
        for part in parts {
            try part.seek(target)
            least = min(least, part.document)
        }
        document = least
    }

    override func seek(_ target: Int, above threshold: Double) throws {
        guard threshold > 0 else { return try seek(target) }
        guard document < target else { return }
        var target = target
        while target < .max {
            if target > last || threshold > self.threshold { try divide(target, threshold) }
            var least = Int.max
            for part in needed {
                try part.seek(target)
                least = min(least, part.document)
            }
            guard least <= last else {
                target = last < .max ? last + 1 : .max
                continue
            }
            for part in others { try part.seek(least) }
            return document = least
        }
        document = .max
    }

    /// Finds out which of the parts are needed, from `target` on: without any of them, all others together score too little.
    private func divide(_ target: Int, _ threshold: Double) throws {
        self.threshold = threshold
        last = .max
        var bounds: [(part: TextMatcher, most: Double)] = []
        for part in parts {
            let bound = try part.bound(from: target)
            bounds.append((part, bound.most))
            last = min(last, bound.last)
        }
        bounds.sort { $0.most < $1.most }
        var sum = 0.0
        let count = bounds.prefix { bound in
            sum += bound.most
            return sum <= threshold
        }.count
        others = bounds.prefix(count).map(\.part)
        needed = bounds.dropFirst(count).map(\.part)
    }

    override func bound(from target: Int) throws -> ScoreBound {
        document < .max ? try parts.bound(from: target) : .nothing
    }

    override func score() throws -> Double {
        try parts.reduce(0) { try $0 + ($1.document == document ? $1.score() : 0) }
    }
}

/// All documents of a segment: what NOT by itself takes from.
final class EveryMatcher: TextMatcher {
    private let documents: any MatchCursor

    init(_ segment: any TextSegment) { documents = segment.everyDocument() }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        try documents.seek(target)
        document = documents.document
    }
}

// MARK: - Document cursor

/// Goes through numbers of documents in their order.
protocol MatchCursor: AnyObject {
    /// The document that it is at; `Int.max` after the last, -1 before the first.
    var document: Int { get }

    /// Goes to the first document that is not less than `target`.
    func seek(_ target: Int) throws
}

extension MatchCursor {
    /// Goes through all documents, from before the first one on. O(n).
    func forEach(_ body: (_ document: Int) throws -> Void) throws {
        try seek(0)
        while document != .max {
            try body(document)
            try seek(document + 1)
        }
    }
}

extension Array where Element: MatchCursor {
    /// Brings all cursors to the first document, from `target` on, that all of them have.
    ///
    /// - Returns: `false` when there is none.
    func align(_ target: inout Int) throws -> Bool {
        var index = 0
        while index < count {
            try self[index].seek(target)
            guard self[index].document != .max else { return false }
            if self[index].document > target {
                target = self[index].document
                index = index == 0 ? 1 : 0
            } else {
                index += 1
            }
        }
        return true
    }
}
