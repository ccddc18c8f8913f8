import Roost
import RoostBytes
import RoostStorage

/// What an index holds of each document of a collection: rows that sort by their keys.
///
/// The rows of a document must follow from the document alone, and from it as ``signature`` says: rows are kept, in files,
/// for as long as the signature stays the same.
package struct IndexDefinition: Sendable {
    /// Makes the rows of some documents of a moment: winning revisions, which are no tombstones. Called from any thread, also
    /// while it runs in others. What it throws ends the upkeep or the reading that it was called for, and no rows are made of
    /// that.
    package typealias Map =
        @Sendable (_ documents: DocumentPage, _ moment: CollectionSnapshot) throws -> IndexRows

    /// Tells the index from others of its collection: its kind, a slash and its own name. At most 1,000 bytes.
    package let name: String
    /// All that the rows depend on besides the documents: source or version of the map, options, collation. An index whose
    /// rows were made under another one is rebuilt.
    package let signature: String
    /// What the branch nodes of the rows' tree keep, so that reducing any range takes O(log n).
    package let reduction: IndexReduction?
    package let map: Map
    /// What keeps the index, where it has something else than rows.
    package let maintainer: (any IndexMaintainer)?

    package init(
        name: String, signature: String, reduction: IndexReduction? = nil, mapAll: @escaping Map
    ) {
        self.name = name
        self.signature = signature
        self.reduction = reduction
        map = mapAll
        maintainer = nil
    }

    /// An index that has something else than rows.
    package init(name: String, signature: String, maintainer: any IndexMaintainer) {
        self.name = name
        self.signature = signature
        self.maintainer = maintainer
        reduction = nil
        map = { documents, _ in IndexRows(of: documents) }
    }

    /// What the tree of the rows keeps; `nil` for an index without a reduction.
    ///
    /// - Parameter number: The number that the index has in its store.
    func storedReduction(of number: UInt64) -> Reduction? {
        reduction?.stored(of: number, "\(name)\n\(signature)")
    }
}

// MARK: - Index reduction

/// A value that is made of rows and can be made of values of neighbouring rows: a sum, a count.
///
/// Both functions must be pure, and combining the values of neighbouring runs must give the value of all. They are called
/// from any thread.
package struct IndexReduction: Sendable {
    /// Names the functions; functions that change need another name.
    package let name: String
    /// Whether the name means these functions for one index only: functions of other indexes may have the same name.
    package let isOfOneIndex: Bool
    /// Begins the value of one or more rows.
    package let begin: @Sendable () -> any IndexReducer
    /// Makes the value of two or more values, which stand in their order and are valid during the call.
    package let combine: @Sendable (_ values: [ByteView]) throws -> [UInt8]

    package init(
        name: String, isOfOneIndex: Bool = false, begin: @escaping @Sendable () -> any IndexReducer,
        combine: @escaping @Sendable ([ByteView]) throws -> [UInt8]
    ) {
        self.name = name
        self.isOfOneIndex = isOfOneIndex
        self.begin = begin
        self.combine = combine
    }

    /// What the tree of an index's rows keeps.
    ///
    /// - Parameters:
    ///   - number: The number of the index.
    ///   - signature: The index's own.
    func stored(of number: UInt64, _ signature: String) -> Reduction {
        let (begin, combine) = (begin, combine)
        // The store finds functions by their names, and numbers are given again. So both are needed where a name is not enough.
        let hash = Array(signature.utf8).withView { XXH3.hash($0) }
        let stored = isOfOneIndex ? "own \(number) \(String(hash, radix: 16))" : name
        return Reduction(name: stored) { rows, value in
            var reducer = begin()
            let readsKeys = reducer.readsKeys
            try rows.forEachEntry(withKeys: readsKeys) { key, inline, reference in
                let key = readsKeys ? key : nil
                if let reference {
                    try rows.withValue(at: reference) { try reducer.add(try IndexRowView(key: key, $0)) }
                } else {
                    try reducer.add(try IndexRowView(key: key, inline))
                }
            }
            value = try reducer.value()
        } combine: { values, value in
            var all: [ByteView] = []
            all.reserveCapacity(values.count)
            for index in 0..<values.count { all.append(values[index]) }
            value = try combine(all)
        }
    }

    /// The value of a row.
    func value(of row: IndexRow) throws -> [UInt8] {
        var reducer = begin()
        try row.withView { try reducer.add($0) }
        return try reducer.value()
    }

    /// The value of values; `nil` of none.
    package func value(of values: [[UInt8]]) throws -> [UInt8]? {
        guard values.count > 1 else { return values.first }
        let bytes = ByteBuffer()
        for value in values { bytes.append(value) }
        defer { extendLifetime(bytes) }
        var start = 0
        return try combine(
            values.map { value in
                defer { start += value.count }
                return bytes.view.slice(start, value.count)
            })
    }
}

/// Makes the value of some rows, which it is given one after another in their order.
package protocol IndexReducer {
    /// Whether it looks at more of a row than its payload.
    var readsKeys: Bool { get }

    /// Takes the next row, which is valid during the call.
    mutating func add(_ row: IndexRowView) throws

    /// The value of the rows, of which there was one at least.
    func value() throws -> [UInt8]
}

// MARK: - Index rows

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
