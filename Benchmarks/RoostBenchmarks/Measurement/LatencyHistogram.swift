/// Counts latencies in buckets of at most 1/16 relative width.
struct LatencyHistogram {
    private var buckets = [Int](repeating: 0, count: 1024)
    private var count = 0

    @inline(__always)
    mutating func record(nanoseconds: UInt64) {
        buckets[Self.bucket(nanoseconds)] += 1
        count += 1
    }

    /// The upper bound of the bucket below which `share` of the latencies lie, in nanoseconds.
    func quantile(_ share: Double) -> Double {
        var left = Int((Double(count) * share).rounded(.up))
        for (bucket, number) in buckets.enumerated() {
            left -= number
            if left <= 0 { return Self.upperBound(bucket) }
        }
        return .nan
    }

    @inline(__always)
    private static func bucket(_ nanoseconds: UInt64) -> Int {
        if nanoseconds < 16 { return Int(nanoseconds) }
        let exponent = 63 - nanoseconds.leadingZeroBitCount
        return (exponent - 3) * 16 + Int(nanoseconds >> UInt64(exponent - 4)) - 16
    }

    private static func upperBound(_ bucket: Int) -> Double {
        if bucket < 16 { return Double(bucket) }
        let exponent = bucket / 16 + 3
        return Double(UInt64(bucket % 16 + 17) << UInt64(exponent - 4))
    }
}
