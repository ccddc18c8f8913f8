#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// BM25 of one phrase (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the constants and the
/// least weight of a phrase that SQLite's FTS5 has, so that both put documents in the same order.
final class LeafScoring {
    /// How much more a phrase is worth the fewer documents have it, times its boost.
    private let weight: Double
    private let averageLength: Double
    /// How many documents have the phrase.
    let hits: Int
    /// By column; `nil` where all are 1.
    let weights: [Double]?
    private let heaviest: Double
    /// The documents with it by segment, where they were found when they were counted.
    let found: [FoundPhrase]?
    private let length: (Int) throws -> Int

    private static let k1 = 1.2
    private static let b = 0.75
    /// What a phrase counts for that more than half of the documents have.
    private static let least = 1e-6

    /// - Parameters:
    ///   - documents: how many there are.
    ///   - hits: how many have the phrase.
    ///   - found: the documents that have it, by segment, where that is known.
    ///   - length: the number of words of a document.
    init(
        documents: Int, hits: Int, averageLength: Double, boost: Double, weights: [Double]?,
        found: [FoundPhrase]?, length: @escaping (Int) throws -> Int
    ) {
        let rarity = log((Double(documents - hits) + 0.5) / (Double(hits) + 0.5))
        weight = (rarity > 0 ? rarity : Self.least) * boost
        self.averageLength = averageLength
        self.hits = hits
        self.weights = weights
        self.found = found
        heaviest = weights?.max() ?? 1
        self.length = length
    }

    /// What a number of places in a document counts for.
    func score(_ frequency: Double, _ document: Int) throws -> Double {
        score(frequency, length: try length(document))
    }

    /// The most that a document of a block can score, which has so many places and words at most and at least.
    func most(_ count: Int, _ shortest: Int) -> Double {
        most(frequency: Double(count) * heaviest, shortest: shortest)
    }

    /// The most that a document can score, of any length unless that is known.
    func most(frequency: Double, shortest: Int = 0) -> Double {
        // A small error of rounding must not leave out what would have won.
        score(frequency, length: shortest) * (1 + 1e-12)
    }

    /// How many places a document of a block has at least that scores more than `threshold`, which is above 0; or fewer. No
    /// document of the block is shorter than `shortest`.
    func leastCount(above threshold: Double, shortest: Int) -> Int {
        let room = weight * (Self.k1 + 1) - threshold
        guard room > 0 else { return .max }
        // As for the most that a document can score, but the other way round.
        let least = threshold * norm(length: shortest) / (room * heaviest) * (1 - 1e-9)
        return least < 0x1p53 ? Int(least) : .max
    }

    private func norm(length: Int) -> Double {
        Self.k1 * (1 - Self.b + Self.b * (averageLength > 0 ? Double(length) / averageLength : 1))
    }

    private func score(_ frequency: Double, length: Int) -> Double {
        let norm = norm(length: length)
        return frequency > 0 ? weight * frequency * (Self.k1 + 1) / (frequency + norm) : 0
    }
}
