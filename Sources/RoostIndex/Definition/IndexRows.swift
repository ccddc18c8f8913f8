import Roost
import RoostBytes

/// Takes the rows of some documents, one document after another, in one run of memory.
package struct IndexRows: Sendable {
    /// The longest key; of a longer one the row keeps the beginning and a hash.
    package static let longestKey = 1_500

    /// Where a row stands: its key in the tree, then its value there.
    struct Place: BitwiseCopyable {
        let start: Int
        let componentLength: Int
        let keyLength: Int
        let end: Int

        var key: Range<Int> { start..<start + keyLength }
        var component: Range<Int> { start..<start + componentLength }
        var value: Range<Int> { start + keyLength..<end }

        func moved(by distance: Int) -> Place {
            Place(
                start: start + distance, componentLength: componentLength, keyLength: keyLength,
                end: end + distance)
        }
    }

    /// The documents' IDs.
    let ids: [String]
    private(set) var bytes: [UInt8] = []
    /// The rows, those of one document next to each other.
    private(set) var places: [Place] = []
    /// Which of the rows are whose.
    private var ranges: [Range<Int>]
    private var current = 0
    /// How many rows of the current document have a key; empty where it has only one row.
    private var ordinals: [[UInt8]: Int] = [:]

    /// No rows yet.
    package init(of documents: [Document]) {
        ids = documents.map(\.id)
        ranges = Array(repeating: 0..<0, count: ids.count)
        bytes.reserveCapacity(64 * ids.count)
        places.reserveCapacity(ids.count)
    }

    /// How many documents these are the rows of.
    var documentCount: Int { ids.count }

    /// Whether there are none.
    package var isEmpty: Bool { places.isEmpty }

    /// Which of the places are those of a document.
    func range(of document: Int) -> Range<Int> { ranges[document] }

    /// The rows of a document.
    func rows(of document: Int) -> [IndexRow] {
        ranges[document].map { IndexRow(bytes, places[$0]) }
    }

    // MARK: Adding

    /// Says whose rows are added next: the document at `index`, which had none until now.
    package mutating func begin(_ index: Int) {
        current = index
        ranges[index] = places.count..<places.count
        if !ordinals.isEmpty { ordinals.removeAll(keepingCapacity: true) }
    }

    /// Adds a row. Rows of one key stand in the order of the documents' IDs, and those of one document as they were added.
    ///
    /// - Parameters:
    ///   - key: as a `KeyEncoder` writes it: complete, and no beginning of another key.
    ///   - payload: anything.
    package mutating func add(_ key: ByteView, payload: ByteView) {
        let start = bytes.count
        RowKey.append(component: key, to: &bytes)
        let componentLength = bytes.count - start
        let ordinal = ordinal(of: start..<bytes.count)
        bytes.append(contentsOf: ids[current].utf8)
        if ordinal > 0 { RowKey.append(ordinal: UInt32(clamping: ordinal), to: &bytes) }
        let keyLength = bytes.count - start
        IndexRow.append(componentLength: componentLength, to: &bytes)
        unsafe bytes.append(contentsOf: payload.buffer)
        places.append(
            Place(start: start, componentLength: componentLength, keyLength: keyLength, end: bytes.count))
        ranges[current] = ranges[current].lowerBound..<places.count
    }

    /// How many rows of the current document have this key already.
    private mutating func ordinal(of component: Range<Int>) -> Int {
        // Most documents have one row.
        guard let first = places[ranges[current]].first else { return 0 }
        if ordinals.isEmpty { ordinals[Array(bytes[first.component])] = 1 }
        let key = Array(bytes[component])
        let ordinal = ordinals[key, default: 0]
        ordinals[key] = ordinal + 1
        return ordinal
    }
}
