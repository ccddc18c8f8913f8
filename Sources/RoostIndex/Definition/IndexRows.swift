import Roost
import RoostBytes

/// Takes the rows of some documents, one document after another, in one run of memory.
package struct IndexRows: Sendable {
    /// The longest key; of a longer one the row keeps the beginning and a hash.
    package static let longestKey = 1_500

    /// Where a row stands: its key in the tree, then its value there.
    struct Place: BitwiseCopyable {
        var start: Int
        private let length: UInt32
        private let keyLength: UInt16
        private let componentLength: UInt16

        init(start: Int, componentLength: Int, keyLength: Int, end: Int) {
            self.start = start
            // Keys have some thousand bytes at most, and no value has 4 GiB.
            length = UInt32(end - start)
            self.keyLength = UInt16(keyLength)
            self.componentLength = UInt16(componentLength)
        }

        func key(in bytes: ByteView) -> ByteView { bytes.slice(start, Int(keyLength)) }

        /// The emitted key, or what stands for a long one.
        func component(in bytes: ByteView) -> ByteView { bytes.slice(start, Int(componentLength)) }

        /// The document's ID and, for a second row, its number.
        func rest(in bytes: ByteView) -> ByteView { key(in: bytes).dropFirst(Int(componentLength)) }

        func value(in bytes: ByteView) -> ByteView {
            bytes.slice(start, Int(length)).dropFirst(Int(keyLength))
        }

        /// The length of the emitted key.
        var component: Int { Int(componentLength) }
    }

    /// The documents.
    private let documents: DocumentPage
    private(set) var bytes: [UInt8] = []
    /// The rows, those of one document next to each other.
    private(set) var places: [Place] = []
    /// Which of the rows are whose.
    private var ranges: [Range<Int>]
    private var current = 0
    /// How many rows of the current document have a key; empty where it has only one row.
    private var ordinals: [[UInt8]: UInt32] = [:]

    /// No rows yet.
    package init(of documents: DocumentPage) {
        self.documents = documents
        ranges = Array(repeating: 0..<0, count: documents.count)
        bytes.reserveCapacity(64 * documents.count)
        places.reserveCapacity(documents.count)
    }

    /// How many documents these are the rows of.
    var documentCount: Int { documents.count }

    /// Whether there are none.
    package var isEmpty: Bool { places.isEmpty }

    /// Which of the places are those of a document.
    func range(of document: Int) -> Range<Int> { ranges[document] }

    /// The rows of a document.
    func rows(of document: Int) -> [IndexRow] {
        bytes.withView { bytes in places[ranges[document]].map { IndexRow(bytes, $0) } }
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
        bytes.append(contentsOf: documents.id(current))
        RowKey.append(ordinal: ordinal, to: &bytes)
        let keyLength = bytes.count - start
        IndexRow.append(componentLength: componentLength, to: &bytes)
        unsafe bytes.append(contentsOf: payload.buffer)
        places.append(
            Place(start: start, componentLength: componentLength, keyLength: keyLength, end: bytes.count))
        ranges[current] = ranges[current].lowerBound..<places.count
    }

    /// How many rows of the current document have this key already.
    private mutating func ordinal(of component: Range<Int>) -> UInt32 {
        // Most documents have one row.
        guard let first = places[ranges[current]].first else { return 0 }
        if ordinals.isEmpty { ordinals[bytes.withView { first.component(in: $0).array }] = 1 }
        let key = Array(bytes[component])
        let ordinal = ordinals[key, default: 0]
        ordinals[key] = ordinal + 1
        return ordinal
    }
}
