/// What is decided of a source.
struct AccessDecision {
    /// An index that could be used and is not, why, and how many of its rows would be read, where that is known.
    typealias Rejection = (name: String, reason: String, count: Int?)

    /// `nil` when reading all documents is fastest.
    var choice: AccessChoice?
    /// What takes more.
    var others: [AccessChoice] = []
    /// Indexes that can't be used now.
    var unusable: [Rejection] = []
    /// How many documents there are.
    var total = 0

    /// Takes it if it costs less than what was considered before: of several that cost the same the first one, as those with
    /// the fewest columns come first.
    mutating func consider(_ candidate: AccessChoice) {
        guard let choice else {
            choice = candidate
            return
        }
        if (candidate.cost, candidate.count) < (choice.cost, choice.count) {
            others.append(choice)
            self.choice = candidate
        } else {
            others.append(candidate)
        }
    }

    /// Indexes that could be used and are not.
    var rejected: [Rejection] {
        let others = others.compactMap { candidate -> Rejection? in
            let name: String
            switch candidate.way {
            case .index(let index)
            where choice?.indexes.contains(where: { $0.access.index === index.access.index }) != true:
                name = index.access.index.description.name
            case .grams(let search, _) where choice?.indexName != search.name: name = search.name
            default: return nil
            }
            return (name, reason(candidate), candidate.count)
        }
        return unusable + others
    }

    private func reason(_ candidate: AccessChoice) -> String {
        let rows = "it would read \(Explanation.grouped(candidate.count)) of its rows"
        guard let choice else { return "\(rows), and all \(Explanation.grouped(total)) documents take less" }
        return choice.count < candidate.count
            ? "\(rows), not \(Explanation.grouped(choice.count))" : "\(rows), and takes more for each"
    }
}
