/// Median and spread of a figure's samples.
struct Summary: Codable, Sendable {
    let samples: [Double]

    init(_ samples: [Double]) {
        self.samples = samples
    }

    /// Of an even number of samples the mean of the two in the middle.
    var median: Double {
        let sorted = samples.sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// How far the samples lie apart, relative to the median.
    var spread: Double {
        guard let low = samples.min(), let high = samples.max(), median != 0 else { return 0 }
        return (high - low) / median
    }
}
