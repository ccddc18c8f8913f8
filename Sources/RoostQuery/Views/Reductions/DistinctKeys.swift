import RoostBytes
import RoostCrypto
import RoostIndex
import RoostStorage

/// How many different keys neighbouring rows have, with the first and the last of them: what `_approx_count_distinct` keeps.
///
/// Equal keys are neighbours, so runs of rows share at most the key at which they meet. Keys are told apart by the first
/// 16 bytes of their SHA-256, so that a value stays short: both hashes, and the count as a varint.
struct DistinctKeys {
    let count: UInt64
    private let first: [UInt8]
    private let last: [UInt8]

    private static let hashLength = 16

    /// Of rows with `count` different keys from `first` to `last`.
    init(count: UInt64, from first: [UInt8], to last: [UInt8]) {
        self.count = count
        self.first = Self.hash(first)
        self.last = Self.hash(last)
    }

    /// Of runs of rows that follow one another, of which there are some.
    init(_ runs: [DistinctKeys]) {
        count = zip(runs, runs.dropFirst()).reduce(runs.reduce(0) { $0 &+ $1.count }) { count, pair in
            pair.0.last == pair.1.first ? count &- 1 : count
        }
        first = runs.first?.first ?? []
        last = runs.last?.last ?? []
    }

    /// - Throws: ``StoreError`` with `damaged` for bytes that no index has written.
    init(_ bytes: [UInt8]) throws(StoreError) {
        do throws(MalformedBytes) {
            (first, last, count) = try bytes.withView { (view) throws(MalformedBytes) in
                var reader = ByteReader(view)
                return (
                    try reader.view(Self.hashLength).array, try reader.view(Self.hashLength).array,
                    try reader.varint()
                )
            }
        } catch {
            throw StoreError(.damaged, "A view's count of distinct keys is malformed.")
        }
    }

    var encoded: [UInt8] {
        let buffer = ByteBuffer(capacity: 48)
        buffer.append(first)
        buffer.append(last)
        buffer.append(varint: count)
        return buffer.view.array
    }

    private static func hash(_ key: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(key).bytes.prefix(hashLength))
    }
}

/// Counts the different keys of rows.
struct DistinctKeyReducer: IndexReducer {
    let readsKeys = true
    private var count: UInt64 = 0
    private var first: [UInt8] = []
    private var last: [UInt8] = []

    mutating func add(_ row: IndexRowView) {
        guard count > 0 else {
            (count, first) = (1, row.component.array)
            last = first
            return
        }
        guard last.withView({ $0.compare(row.component) != 0 }) else { return }
        count += 1
        last = row.component.array
    }

    func value() -> [UInt8] { DistinctKeys(count: count, from: first, to: last).encoded }
}
