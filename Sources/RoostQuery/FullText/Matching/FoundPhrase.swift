/// The documents of one segment that have a phrase, and what its places in each count for: kept when they are counted, which
/// a score needs to know, so that nobody has to look for the phrase again to score them.
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
