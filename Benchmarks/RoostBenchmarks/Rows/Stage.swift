/// Where a row is performed: in a child process, for one contender, once.
final class Stage {
    let corpus: Corpus
    let directory: String
    /// How long the rows that are bounded by time go on.
    let seconds: Double
    /// What the store's cache holds, in bytes; `nil` for what its configuration says.
    let cacheSize: Int?
    /// The length of the blob in bytes.
    let blobSize: Int
    /// The file of JSON lines that is imported; `nil` for one that is made.
    let importFile: String?
    /// The file of texts that are searched.
    let textFile: String
    private(set) var figures: [Metric: Double] = [:]
    /// Figures in each equal part of a long row.
    var progress: [Metric: [Double]] = [:]
    /// The greatest share of a core that other programs took during a timed region.
    private(set) var disturbance = 0.0
    private let entry: ContenderEntry

    init(
        entry: ContenderEntry, corpus: Corpus, directory: String, seconds: Double, cacheSize: Int?,
        blobSize: Int,
        importFile: String?, textFile: String
    ) {
        self.entry = entry
        self.corpus = corpus
        self.directory = directory
        self.seconds = seconds
        self.cacheSize = cacheSize
        self.blobSize = blobSize
        self.importFile = importFile
        self.textFile = textFile
    }

    /// Whether the contender is the raw limit, which keeps nothing that could be verified.
    var isRaw: Bool { entry.kind == .raw }

    func open() throws -> any Contender {
        try entry.open(
            OpenRequest(
                directory: directory, valueSize: corpus.valueSize, count: corpus.count, cacheSize: cacheSize))
    }

    func primitives() throws -> any PrimitiveContender {
        guard let make = entry.primitives else { throw BenchmarkError("\(entry.title) has no primitives") }
        return make()
    }

    func openBlobs() throws -> any BlobContender {
        guard let open = entry.blobs else { throw BenchmarkError("\(entry.title) keeps no blobs") }
        return try open(directory)
    }

    func openViews() throws -> any ViewContender {
        guard let open = entry.views else { throw BenchmarkError("\(entry.title) keeps no views") }
        return try open(directory)
    }

    func openDocuments() throws -> any DocumentContender {
        guard let open = entry.documents else { throw BenchmarkError("\(entry.title) keeps no documents") }
        return try open(directory)
    }

    func openQueries() throws -> any QueryContender {
        guard let open = entry.queries else { throw BenchmarkError("\(entry.title) is asked nothing") }
        return try open(directory)
    }

    func openTexts() throws -> any TextContender {
        guard let open = entry.texts else { throw BenchmarkError("\(entry.title) is not searched") }
        return try open(directory)
    }

    func openServer() throws -> any ServerContender {
        guard let open = entry.server else { throw BenchmarkError("\(entry.title) serves nobody") }
        return try open(directory)
    }

    func openReplication() throws -> RoostReplication {
        guard let open = entry.replication else { throw BenchmarkError("\(entry.title) does not replicate") }
        return try open(directory)
    }

    func record(_ metric: Metric, _ value: Double) {
        figures[metric] = value
    }

    /// Remembers how undisturbed a timed region was.
    func note(_ measurement: Measurement) {
        disturbance = max(disturbance, measurement.disturbance)
    }

    /// Waits until the writes made so far are on the medium and measures what `body` costs.
    func measure(_ body: () throws -> Void) throws -> Measurement {
        Warmth.settle()
        let meter = Meter()
        try body()
        let measurement = meter.stop()
        note(measurement)
        return measurement
    }

    /// Opens the store again and reads a sample of the documents, each of which must have the value of the
    /// version that `version` gives for its index. The raw limit looks nothing up and is not asked.
    func verify(version: (Int) -> Int) throws {
        if isRaw { return }
        let store = try open()
        try verify(try store.makeReader(), version: version)
        try store.close()
    }

    private func verify(_ reader: any ContenderReader, version: (Int) -> Int) throws {
        var random = SplitMix64(seed: corpus.seed)
        for _ in 0..<1_000 {
            let index = random.next(below: corpus.count)
            var found = Sink()
            var expected = Sink()
            try reader.read(DocumentKey(corpus, index), into: &found)
            unsafe expected.accept(corpus.value(of: index, version: version(index)))
            guard found.digest == expected.digest else {
                throw BenchmarkError("\(entry.title) returned another value than was stored")
            }
        }
    }
}
