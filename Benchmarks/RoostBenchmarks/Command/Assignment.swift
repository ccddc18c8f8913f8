/// What a child process is to do: one row, for one contender, once.
struct Assignment: Codable, Sendable {
    let contender: String
    let row: Row
    let directory: String
    let docs: Int
    let valueSize: Int
    let seed: UInt64
    let seconds: Double
    /// In bytes; `nil` for what the contender's configuration says.
    let cacheSize: Int?
    /// In bytes.
    let blobSize: Int
    /// The file of JSON lines that is imported.
    let importFile: String?
    /// The file of texts that are searched.
    let textFile: String
}

/// What a child process reports.
struct Outcome: Codable, Sendable {
    /// By ``Metric`` name.
    let figures: [String: Double]
    /// By ``Metric`` name: how a long row went on, in equal parts; empty for other rows.
    let progress: [String: [Double]]
    /// The greatest share of a core that other programs took during a timed region.
    let disturbance: Double

    /// Above this a sample is not to be trusted.
    static let toleratedDisturbance = 1.0 / 3

    var isDisturbed: Bool { disturbance > Self.toleratedDisturbance }
}
