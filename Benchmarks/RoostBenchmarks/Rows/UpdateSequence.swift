/// The updates of W3 and R4: documents in a random order, each once before any is updated again.
struct UpdateSequence {
    static let documentsPerCommit = 100

    private let corpus: Corpus
    private let order: Permutation
    private(set) var updates = 0

    init(_ corpus: Corpus) {
        self.corpus = corpus
        order = Permutation(count: corpus.count, seed: corpus.seed &+ 1)
    }

    /// Fills `batch` with the next `count` updates.
    mutating func fill(_ batch: Batch, count: Int) {
        batch.removeAll()
        for _ in 0..<count {
            let index = order[updates % corpus.count]
            let version = 1 + updates / corpus.count
            unsafe batch.append(corpus.id(of: index), corpus.value(of: index, version: version))
            updates += 1
        }
    }

    /// The documents that have been updated, as long as none has been twice.
    func updatedDocuments() -> Set<Int> {
        Set((0..<updates).map { order[$0] })
    }
}
