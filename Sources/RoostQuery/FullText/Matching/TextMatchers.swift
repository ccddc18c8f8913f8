/// Documents of one segment that a part of a query matches, in the order of their numbers.
class TextMatcher: DocumentCursor {
    /// The document that it is at; `Int.max` after the last, -1 before the first.
    fileprivate(set) var document = -1

    /// Goes to the first document that is not less than `target`.
    func seek(_ target: Int) throws { document = .max }

    /// As ``seek(_:)``, and may pass over documents whose score is not above `threshold`.
    func seek(_ target: Int, above threshold: Double) throws { try seek(target) }

    /// The score of the present document.
    func score() throws -> Double { 0 }
}

/// The documents with a phrase.
final class PhraseMatcher: TextMatcher {
    let leaf: TextLeaf
    private let lists: [PostingList]
    private let scoring: LeafScoring?
    private var starts: [TextPlace]?

    init(_ leaf: TextLeaf, _ lists: TermLists, _ scoring: LeafScoring?) throws {
        self.leaf = leaf
        self.lists = try leaf.slots.map { try lists.list($0.terms) }
        self.scoring = scoring
    }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        var target = target
        while true {
            guard try lists.align(&target) else { return document = .max }
            starts = nil
            document = target
            if try leaf.isPlain || !places().isEmpty { return }
            target += 1
        }
    }

    override func seek(_ target: Int, above threshold: Double) throws {
        guard threshold > 0, leaf.isPlain, let scoring, let list = lists[0] as? TermPostings else {
            return try seek(target)
        }
        guard document < target else { return }
        try list.seek(target) { most, shortest in scoring.most(most, shortest) > threshold }
        starts = nil
        document = list.document
    }

    /// Where the phrase begins in the present document.
    func places() throws -> [TextPlace] {
        if let starts { return starts }
        var found = try lists[0].places()
        if let columns = leaf.columns { found = found.filter { columns[$0.column] } }
        if leaf.isAnchored { found = found.filter { $0.position == 0 } }
        for (slot, list) in zip(leaf.slots, lists).dropFirst() {
            guard !found.isEmpty else { break }
            let places = try list.places()
            var index = 0
            found = found.filter { start in
                while index < places.count,
                    (places[index].column, places[index].position) < (
                        start.column, start.position + slot.offset
                    )
                {
                    index += 1
                }
                return index < places.count && places[index].column == start.column
                    && places[index].position == start.position + slot.offset
            }
        }
        starts = found
        return found
    }

    /// How many times the phrase stands in the present document.
    func count() throws -> Int { leaf.isPlain ? lists[0].count : try places().count }

    override func score() throws -> Double {
        guard let scoring else { return 0 }
        guard scoring.weights == nil else { return try score(of: places()) }
        return try scoring.score(Double(count()), document)
    }

    /// The score of some places of the present document.
    func score(of places: [TextPlace]) throws -> Double {
        guard let scoring else { return 0 }
        let frequency =
            scoring.weights.map { weights in places.reduce(0) { $0 + weights[$1.column] } }
            ?? Double(places.count)
        return try scoring.score(frequency, document)
    }
}

/// The documents in which phrases stand near each other.
final class NearMatcher: TextMatcher {
    private let phrases: [PhraseMatcher]
    private let distance: Int
    /// The places of each phrase in the present document that are near one of each other.
    private(set) var places: [[TextPlace]] = []

    init(_ phrases: [PhraseMatcher], distance: Int) {
        self.phrases = phrases
        self.distance = distance
    }

    override func seek(_ target: Int) throws {
        guard document < target else { return }
        var target = target
        while true {
            guard try phrases.align(&target) else { return document = .max }
            places = try near(phrases.map { try $0.places() })
            document = target
            if !places[0].isEmpty { return }
            target += 1
        }
    }

    /// The places of each phrase that are in a group: one place of each phrase, in one column, with at most ``distance`` words
    /// between the end of the first and the beginning of the last.
    ///
    /// Each group has a place that comes first, so the windows that begin with a place are looked at. O(n log n).
    private func near(_ all: [[TextPlace]]) -> [[TextPlace]] {
        var kept = all.map { [Bool](repeating: false, count: $0.count) }
        for (phrase, places) in all.enumerated() {
            // Windows only move forwards, so what was kept is not looked at again.
            var ends = all.map { _ in 0 }
            for start in places {
                let last = start.position + phrases[phrase].leaf.length + distance
                let members = all.map { others in
                    others.partition {
                        $0 < start
                    }..<others.partition {
                        ($0.column, $0.position) <= (start.column, last)
                    }
                }
                guard members.allSatisfy({ !$0.isEmpty }) else { continue }
                for (index, member) in members.enumerated() where member.upperBound > ends[index] {
                    for place in max(member.lowerBound, ends[index])..<member.upperBound {
                        kept[index][place] = true
                    }
                    ends[index] = member.upperBound
                }
            }
        }
        return zip(all, kept).map { places, kept in zip(places, kept).filter(\.1).map(\.0) }
    }

    override func score() throws -> Double {
        try zip(phrases, places).reduce(0) { try $0 + $1.0.score(of: $1.1) }
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

    override func score() throws -> Double { try parts.reduce(0) { try $0 + $1.score() } }
}

/// The documents that any of some parts matches.
final class AnyMatcher: TextMatcher {
    private let parts: [TextMatcher]

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

    override func score() throws -> Double {
        try parts.reduce(0) { try $0 + ($1.document == document ? $1.score() : 0) }
    }
}

/// All numbers of a segment: what NOT by itself takes from.
final class EveryMatcher: TextMatcher {
    private let documents: Range<Int>

    init(_ documents: Range<Int>) { self.documents = documents }

    override func seek(_ target: Int) {
        let next = max(target, documents.lowerBound)
        document = next < documents.upperBound ? next : .max
    }
}
