import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// A full-text index as of one moment of its collection. Belongs to one thread.
final class TextReader {
    let index: CompiledTextIndex
    /// The moment.
    let collection: CollectionSnapshot
    private let rows: TreeView?
    private let documentTree: TreeView?
    private let segments: [any TextSegment]
    /// How many of these are the index's.
    private let storedCount: Int
    private let living: LivingDocuments?
    /// How many documents of each segment are dead, as far as its own index or the changes tell.
    private let deadCounts: [Int]
    /// The documents that have changed since the index was kept.
    private let changes: ChangedTexts
    /// How many documents there are, and how many words they have.
    let documentCount: Int
    private let averageLength: Double
    /// How many documents were looked at for their score.
    private(set) var scoredCount = 0

    init(_ kept: StoredIndex, _ index: CompiledTextIndex) throws {
        self.index = index
        collection = kept.collection
        rows = kept.rows
        documentTree = kept.documents
        living = kept.rows.map { LivingDocuments($0) }
        let state = try kept.rows.map { (rows) throws(StoreError) in try TextState(rows) } ?? TextState()
        changes = try ChangedTexts(kept, index, first: state.next)
        var segments: [any TextSegment] = []
        if let rows = kept.rows { segments = state.segments.map { StoredSegment(rows: rows, segment: $0) } }
        storedCount = segments.count
        self.segments = segments + changes.segments
        deadCounts = state.segments.map(\.dead) + changes.deadCounts
        documentCount = state.documents - changes.replaced.count + changes.count
        let words = state.words - changes.replacedWords + changes.words
        averageLength = documentCount > 0 ? Double(words) / Double(documentCount) : 0
    }

    /// The words of one document, as if its collection had no other.
    init(_ document: Document, at collection: CollectionSnapshot, _ index: CompiledTextIndex) throws {
        self.index = index
        self.collection = collection
        (rows, documentTree, living) = (nil, nil, nil)
        changes = try ChangedTexts(document, index)
        segments = changes.segments
        storedCount = 0
        deadCounts = changes.deadCounts
        documentCount = changes.count
        averageLength = Double(changes.words)
    }

    // MARK: Documents

    /// The ID of a document.
    func id(_ number: Int) throws -> String {
        if number >= changes.first { return try changes.id(number) }
        guard let bytes = try rows?.value(TextKeys.id(number)),
            let id = String(validating: bytes, as: UTF8.self)
        else { throw TextDamage.error }
        return id
    }

    /// The number of a document; `nil` for one that is not in the index.
    func number(_ id: String) throws -> Int? {
        if let number = changes.number(ByteKey(id)) { return number }
        guard let bytes = try documentTree?.value(Key(id)) else { return nil }
        let number = try TextDocument(bytes).number
        return changes.replaced.contains(number) ? nil : number
    }

    private func isAlive(_ number: Int) throws -> Bool {
        if number >= changes.first { return try changes.isAlive(number) }
        return try (changes.replaced.isEmpty || !changes.replaced.contains(number))
            && living?.contains(number) ?? false
    }

    private func length(_ number: Int) throws -> Int {
        if number >= changes.first { return try changes.length(number) }
        return try living?.length(number) ?? 0
    }

    // MARK: Matching

    /// A document that a query matches, and its score.
    struct Match {
        let number: Int
        let score: Double
    }

    /// All documents that a query matches, in the order of their numbers.
    ///
    /// - Parameter weights: by column, for the score; `nil` for no score.
    func matches(_ query: CompiledTextQuery, weights: [Double]?) throws -> [Match] {
        let scorings = try weights.map { try self.scorings(query, $0) }
        var found: [Match] = []
        try forEachMatch(query, scorings, { .zero }) { matcher in
            found.append(Match(number: matcher.document, score: scorings == nil ? 0 : try matcher.score()))
        }
        return found
    }

    /// The documents of the highest scores, the highest first, and of equal ones the older first.
    func best(_ query: CompiledTextQuery, _ limit: Int, weights: [Double]) throws -> [Match] {
        try best(query, limit, try scorings(query, weights))
    }

    private func best(
        _ query: CompiledTextQuery, _ limit: Int, _ scorings: [LeafScoring]
    ) throws -> [Match] {
        var best = BestMatches(limit)
        try forEachMatch(query, scorings, { best.threshold }) { matcher in
            scoredCount += 1
            best.add(Match(number: matcher.document, score: try matcher.score()))
        }
        return best.sorted
    }

    /// As ``best(_:_:weights:)``, with how many documents match in all. What one phrase needs for its score tells that; of other
    /// queries every match is looked at, once, and few for their scores.
    func bestAndTotal(
        _ query: CompiledTextQuery, _ limit: Int, weights: [Double]
    ) throws -> (best: [Match], total: Int) {
        let scorings = try scorings(query, weights)
        if case .leaf(let leaf) = query.tree {
            return (try best(query, limit, scorings), scorings[leaf].hits)
        }
        var best = BestMatches(limit)
        var total = 0
        var bound = ScoreBound.nothing
        var bounded: TextMatcher?
        try forEachMatch(query, scorings, { .zero }) { matcher in
            total += 1
            if matcher !== bounded || matcher.document > bound.last {
                (bounded, bound) = (matcher, try matcher.bound(from: matcher.document))
            }
            guard best.threshold == 0 || bound.most > best.threshold else { return }
            scoredCount += 1
            best.add(Match(number: matcher.document, score: try matcher.score()))
        }
        return (best.sorted, total)
    }

    /// How many documents a query matches. That of one word takes a look at each of its blocks, where nothing has died.
    func count(_ query: CompiledTextQuery) throws -> Int {
        if case .leaf(let leaf) = query.tree { return try count(query.leaves[leaf]) { _, _ in } }
        var count = 0
        try forEachMatch(query, nil, { .zero }) { _ in count += 1 }
        return count
    }

    /// How many documents have a phrase.
    ///
    /// - Parameter body: called with each document, and the number of its segment, where they are gone through.
    private func count(
        _ leaf: TextLeaf, _ body: (_ segment: Int, PhraseMatcher) throws -> Void
    ) throws -> Int {
        var total = 0
        for (place, segment) in segments.enumerated() {
            let lists = TermLists(segment: segment, coder: index.coder)
            let isWhole = deadCounts[place] == 0 && (place >= storedCount || changes.replaced.isEmpty)
            if leaf.isPlain, isWhole {
                total += try lists.documents(leaf.slots[0].terms).total()
                continue
            }
            let matcher = try PhraseMatcher(everyDocumentWith: leaf, lists)
            try matcher.forEach { document in
                guard try isWhole || isAlive(document) else { return }
                total += 1
                try body(place, matcher)
            }
        }
        return total
    }

    private func scorings(_ query: CompiledTextQuery, _ weights: [Double]) throws -> [LeafScoring] {
        let weights = weights.allSatisfy { $0 == 1 } ? nil : weights
        var room = FoundPhrase.most
        return try query.leaves.map { leaf in
            var found = leaf.isPlain ? nil : segments.map { _ in FoundPhrase() }
            let hits = try count(leaf) { segment, matcher in
                guard found != nil else { return }
                room -= 1
                if room < 0 { return found = nil }
                found?[segment].add(matcher.document, try matcher.frequency(weights))
            }
            return LeafScoring(
                documents: documentCount, hits: hits, averageLength: averageLength, boost: leaf.boost,
                weights: weights, found: found, length: { try self.length($0) })
        }
    }

    private func forEachMatch(
        _ query: CompiledTextQuery, _ scorings: [LeafScoring]?, _ threshold: () -> Double,
        _ body: (TextMatcher) throws -> Void
    ) throws {
        for (place, segment) in segments.enumerated() {
            try Task.checkCancellation()
            let lists = TermLists(segment: segment, coder: index.coder)
            let matcher = try matcher(query.tree, query.leaves, lists, place, scorings)
            try matcher.seek(0, above: threshold())
            while matcher.document != .max {
                guard segment.documents.contains(matcher.document) else { throw TextDamage.error }
                if try isAlive(matcher.document) { try body(matcher) }
                try matcher.seek(matcher.document + 1, above: threshold())
            }
        }
    }

    private func matcher(
        _ tree: TextTree, _ leaves: [TextLeaf], _ lists: TermLists, _ segment: Int,
        _ scorings: [LeafScoring]?
    ) throws -> TextMatcher {
        func phrase(_ leaf: Int) throws -> PhraseMatcher {
            try PhraseMatcher(leaves[leaf], lists, scorings?[leaf])
        }
        switch tree {
        case .leaf(let leaf):
            guard let scoring = scorings?[leaf] else {
                return try PhraseMatcher(everyDocumentWith: leaves[leaf], lists)
            }
            if let found = scoring.found { return FoundPhraseMatcher(found[segment], scoring) }
            return try phrase(leaf)
        case .near(let parts, let distance):
            return NearMatcher(try parts.map { try phrase($0) }, distance: distance)
        case .any(let parts):
            return AnyMatcher(try parts.map { try matcher($0, leaves, lists, segment, scorings) })
        case .all(let parts):
            var (wanted, excluded): ([TextMatcher], [TextMatcher]) = ([], [])
            for part in parts {
                if case .not(let inner) = part {
                    excluded.append(try matcher(inner, leaves, lists, segment, nil))
                } else {
                    wanted.append(try matcher(part, leaves, lists, segment, scorings))
                }
            }
            if wanted.isEmpty { wanted = [EveryMatcher(lists.segment)] }
            return AllMatcher(wanted, except: excluded)
        case .not(let part):
            return AllMatcher(
                [EveryMatcher(lists.segment)], except: [try matcher(part, leaves, lists, segment, nil)])
        case .nothing: return TextMatcher()
        }
    }

    // MARK: Words

    /// Words that begin with a text, the most frequent first.
    func completions(_ prefix: [UInt8], limit: Int) throws -> [(word: String, count: Int)] {
        var counts: [[UInt8]: Int] = [:]
        for segment in segments {
            let lists = TermLists(segment: segment, coder: index.coder)
            for start in index.coder.hasRoots ? [prefix, [TextTerm.exact] + prefix] : [prefix] {
                try segment.forEachTerm(start) { term in
                    let isExact = term.first == TextTerm.exact
                    let word = isExact ? Array(term.dropFirst()) : term
                    let list = try lists.list(.exact(root: isExact ? [] : word, exact: word))
                    let count = try list.total()
                    if count > 0 { counts[word, default: 0] += count }
                    return .next
                }
            }
        }
        return counts.sorted { a, b in
            a.value != b.value ? a.value > b.value : a.key.lexicographicallyPrecedes(b.key)
        }.prefix(limit).map { (String(decoding: $0.key, as: UTF8.self), $0.value) }
    }
}

/// Keeps the matches with the highest scores.
struct BestMatches {
    private let limit: Int
    /// A heap with the worst match first.
    private var heap: [TextReader.Match] = []

    init(_ limit: Int) { self.limit = limit }

    /// What a further match has to exceed; 0 while anything is wanted.
    var threshold: Double { heap.count < limit ? 0 : heap.first?.score ?? .infinity }

    var sorted: [TextReader.Match] { heap.sorted { Self.isWorse($1, $0) } }

    private static func isWorse(_ a: TextReader.Match, _ b: TextReader.Match) -> Bool {
        a.score != b.score ? a.score < b.score : a.number > b.number
    }

    mutating func add(_ match: TextReader.Match) {
        guard limit > 0 else { return }
        if heap.count < limit {
            heap.append(match)
            var index = heap.count - 1
            while index > 0, Self.isWorse(heap[index], heap[(index - 1) / 2]) {
                heap.swapAt(index, (index - 1) / 2)
                index = (index - 1) / 2
            }
            return
        }
        guard Self.isWorse(heap[0], match) else { return }
        heap[0] = match
        var index = 0
        while true {
            var worst = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && Self.isWorse(heap[child], heap[worst]) {
                worst = child
            }
            if worst == index { return }
            heap.swapAt(index, worst)
            index = worst
        }
    }
}

// MARK: - Living documents

/// Which documents of an index are alive, and how long they are. Keeps what it has read; belongs to one thread.
final class LivingDocuments {
    private let rows: TreeView
    /// Maps of dead documents by number; `nil` for one without any.
    private var maps: [Int: [UInt8]?] = [:]
    private var lengths: [Int: [Int]] = [:]
    private var lastMap: (number: Int, map: [UInt8]?) = (-1, nil)
    private var lastLengths: (number: Int, lengths: [Int]) = (-1, [])

    init(_ rows: TreeView) { self.rows = rows }

    /// Whether a document is alive.
    func contains(_ document: Int) throws(StoreError) -> Bool {
        let number = document / TextKeys.mapSize
        if lastMap.number != number { lastMap = (number, try map(number)) }
        guard let map = lastMap.map else { return true }
        return map[document % TextKeys.mapSize / 8] & 1 << UInt8(document % 8) == 0
    }

    private func map(_ number: Int) throws(StoreError) -> [UInt8]? {
        if let known = maps[number] { return known }
        let map = try rows.value(TextKeys.dead(number * TextKeys.mapSize))
        if let map, map.count != TextKeys.mapSize / 8 { throw TextDamage.error }
        maps[number] = .some(map)
        return map
    }

    /// How many words a document has.
    func length(_ document: Int) throws(StoreError) -> Int {
        let number = document / TextKeys.lengthsSize
        if lastLengths.number != number { lastLengths = (number, try lengths(number)) }
        let place = document % TextKeys.lengthsSize
        guard place < lastLengths.lengths.count else { throw TextDamage.error }
        return lastLengths.lengths[place]
    }

    private func lengths(_ number: Int) throws(StoreError) -> [Int] {
        if let known = lengths[number] { return known }
        guard let bytes = try rows.value(TextKeys.lengths(number * TextKeys.lengthsSize)) else {
            throw TextDamage.error
        }
        let read = try TextDamage.guarding { () throws(MalformedBytes) in
            try bytes.withView { (view) throws(MalformedBytes) in
                // Each takes a byte at least.
                var lengths = [Int](repeating: 0, count: min(view.count, TextKeys.lengthsSize))
                var reader = ByteReader(view)
                var count = 0
                var span = lengths.mutableSpan
                while !reader.isAtEnd {
                    guard count < span.count else { throw MalformedBytes(at: reader.position) }
                    span[count] = try reader.length(limit: Int(clamping: UInt32.max))
                    count += 1
                }
                lengths.removeLast(lengths.count - count)
                return lengths
            }
        }
        lengths[number] = read
        return read
    }
}
