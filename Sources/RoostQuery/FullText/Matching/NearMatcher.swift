import RoostBytes

/// The documents in which phrases stand near each other.
final class NearMatcher: TextMatcher {
    private let phrases: [PhraseMatcher]
    private let distance: Int
    private let lengths: [Int]
    /// Whether it is two words, for which no places have to be gathered.
    private let isPair: Bool
    /// The first place of each phrase that a window may have.
    private var next: [Int]

    init(_ phrases: [PhraseMatcher], distance: Int) {
        self.phrases = phrases
        self.distance = distance
        lengths = phrases.map(\.leaf.length)
        next = phrases.map { _ in 0 }
        isPair = phrases.count == 2 && phrases.allSatisfy(\.isWord)
    }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        if isPair {
            try phrases[0].seek(target, near: phrases[1], within: distance + 1)
            return document = phrases[0].document
        }
        var target = target
        while true {
            guard try phrases.align(&target) else { return document = .max }
            document = target
            if hasGroup(try phrases.map { try $0.places() }) { return }
            target += 1
        }
    }

    /// Whether there is a group: one place of each phrase, in one column, with at most ``distance`` words between the end of
    /// the first and the beginning of the last. Most documents have none.
    ///
    /// Each group has a place that comes first, so the windows that begin with a place are looked at. O(n).
    private func hasGroup(_ all: [ArraySlice<TextPlace>]) -> Bool {
        // The memory is the matcher's, and is at hand here alone: an object's own variables are checked at each use.
        var next: [Int] = []
        swap(&next, &self.next)
        defer { swap(&next, &self.next) }
        for phrase in all.indices {
            for index in all.indices { next[index] = all[index].startIndex }
            let reach = Int64(lengths[phrase] + distance)
            for place in all[phrase].indices {
                let start = all[phrase][place]
                var isWhole = true
                for index in all.indices where isWhole && index != phrase {
                    let end = all[index].endIndex
                    var place = next[index]
                    while place < end, all[index][place] < start { place += 1 }
                    next[index] = place
                    isWhole =
                        place < end && all[index][place].order <= start.order + reach
                        && all[index][place].column == start.column
                }
                if isWhole { return true }
            }
        }
        return false
    }

    /// The places of each phrase in the present document that are in a group. O(n log n).
    func places() throws -> [[TextPlace]] {
        let all = try phrases.map { try $0.places() }
        var kept = all.map { [Bool](repeating: false, count: $0.count) }
        for (phrase, places) in all.enumerated() {
            // Windows only move forwards, so what was kept is not looked at again.
            var ends = all.map(\.startIndex)
            for start in places {
                let last = start.position + phrases[phrase].leaf.length + distance
                let members = all.map { others in
                    others.partitioningIndex {
                        $0 >= start
                    }..<others.partitioningIndex {
                        ($0.column, $0.position) > (start.column, last)
                    }
                }
                guard members.allSatisfy({ !$0.isEmpty }) else { continue }
                for (index, member) in members.enumerated() where member.upperBound > ends[index] {
                    for place in max(member.lowerBound, ends[index])..<member.upperBound {
                        kept[index][place - all[index].startIndex] = true
                    }
                    ends[index] = member.upperBound
                }
            }
        }
        return zip(all, kept).map { places, kept in zip(places, kept).filter(\.1).map(\.0) }
    }

    override func bound(from target: Int) throws -> ScoreBound {
        document < .max ? try phrases.bound(from: target) : .nothing
    }

    override func score() throws -> Double {
        try zip(phrases, places()).reduce(0) { try $0 + $1.0.score(of: $1.1) }
    }
}

// MARK: - Found phrase

/// The documents of one segment that have a phrase, and what its places in each count for: kept when they are counted, which
/// a score needs to know, so that the phrase is not looked for again to score them.
struct FoundPhrase {
    /// So many are kept at most, in all segments: 16 MiB.
    static let most = 1 << 20
    /// The most of so many neighbours is known.
    private static let blockSize = 128

    private(set) var documents: [Int] = []
    private(set) var frequencies: [Double] = []
    /// The greatest frequency of each block of documents.
    private var greatest: [Double] = []

    /// Adds a document, whose number is greater than those before.
    mutating func add(_ document: Int, _ frequency: Double) {
        if documents.count % Self.blockSize == 0 { greatest.append(0) }
        documents.append(document)
        frequencies.append(frequency)
        greatest[greatest.count - 1] = max(greatest[greatest.count - 1], frequency)
    }

    /// The greatest frequency in the block of a document, by its place in ``documents``, and the last document of that.
    func bound(at index: Int) -> (frequency: Double, last: Int) {
        let block = index / Self.blockSize
        return (greatest[block], documents[min((block + 1) * Self.blockSize, documents.count) - 1])
    }
}

/// The documents with a phrase that were found before.
final class FoundPhraseMatcher: TextMatcher {
    private let found: FoundPhrase
    private let scoring: LeafScoring
    /// The place of the present document, or of the next one.
    private var index = 0
    private var frequency = 0.0

    init(_ found: FoundPhrase, _ scoring: LeafScoring) {
        self.found = found
        self.scoring = scoring
    }

    override func seek(_ target: Int) {
        guard document < target else { return }
        reach(target)
        guard index < found.documents.count else { return document = .max }
        (document, frequency) = (found.documents[index], found.frequencies[index])
    }

    override func bound(from target: Int) -> ScoreBound {
        if document < target { reach(target) }
        guard document < .max, index < found.documents.count else { return .nothing }
        let bound = found.bound(at: index)
        return ScoreBound(most: scoring.most(frequency: bound.frequency), last: bound.last)
    }

    /// Goes to the first place of a document that is not less than `target`, by steps that double.
    private func reach(_ target: Int) {
        let count = found.documents.count
        var step = 1
        while index + step < count, found.documents[index + step] < target {
            index += step
            step *= 2
        }
        index = found.documents[index..<min(index + step + 1, count)].partitioningIndex { $0 >= target }
    }

    override func score() throws -> Double { try scoring.score(frequency, document) }
}
