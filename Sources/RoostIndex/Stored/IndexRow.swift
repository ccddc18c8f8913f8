import RoostBytes
import RoostCrypto
import RoostStorage

/// A row of an index, in memory of its own.
///
/// In the tree its key is the emitted key, then the document's ID and, for a second row of the same key and document, 00
/// and the row's number; its value is the emitted key's length as a varint and the payload.
package struct IndexRow: Sendable, Hashable {
    /// The key in the tree, which no other row has.
    package let key: [UInt8]
    /// The value in the tree.
    package let value: [UInt8]
    private let componentLength: Int

    /// A row of some that were made together.
    init(_ bytes: ByteView, _ place: IndexRows.Place) {
        key = place.key(in: bytes).array
        value = place.value(in: bytes).array
        componentLength = place.component
    }

    /// The emitted key, or what stands for a long one.
    var component: ArraySlice<UInt8> { key[..<componentLength] }

    /// The document's ID, UTF-8.
    var documentID: ArraySlice<UInt8> { key[componentLength...].prefix { $0 != 0 } }

    /// Calls `body` with the row as a view.
    func withView<R>(_ body: (IndexRowView) throws -> R) throws -> R {
        try key.withView { key in try value.withView { try body(try IndexRowView(key: key, $0)) } }
    }

    /// Appends what the value begins with.
    static func append(componentLength: Int, to value: inout [UInt8]) {
        var rest = componentLength
        while rest >= 0x80 {
            value.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        value.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// How keys of rows are made.
package enum RowKey {
    private static let hashLength = 16

    /// An emitted key as rows have it: as it is, or the beginning of a long one and a hash of it, so that equal keys stay
    /// equal. Keys that are equal up to there order by the hash.
    package static func component(_ key: ByteView) -> [UInt8] {
        var component: [UInt8] = []
        append(component: key, to: &component)
        return component
    }

    /// Appends what ``component(_:)`` answers.
    static func append(component key: ByteView, to row: inout [UInt8]) {
        guard key.count > IndexRows.longestKey else {
            unsafe row.append(contentsOf: key.buffer)
            return
        }
        unsafe row.append(contentsOf: key.slice(0, IndexRows.longestKey).buffer)
        row += SHA256.hash(key.array).bytes.prefix(hashLength)
    }

    /// Appends what tells the second row of a key and document from the first, and the third from the second: 00 and its
    /// number, so that bytes order as numbers do. Nothing for the first, whose number is 0.
    static func append(ordinal: UInt32, to row: inout [UInt8]) {
        guard ordinal > 0 else { return }
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: ordinal >> (24 - 8 * $0)) }.drop { $0 == 0 }
        row.append(0)
        row.append(UInt8(bytes.count))
        row.append(contentsOf: bytes)
    }
}

// MARK: - Index row view

/// A row of an index where it stands in a tree or in memory, without a copy. Valid while its bytes are.
package struct IndexRowView {
    /// The key in the tree, which no other row has.
    package let key: ByteView
    /// The value in the tree.
    package let value: ByteView
    private let componentLength: Int
    private let payloadStart: Int

    /// - Parameters:
    ///   - key: the row's key in the tree; `nil` for a row of which only the payload is looked at.
    ///   - value: its value there.
    package init(key: ByteView?, _ value: ByteView) throws(MalformedBytes) {
        var reader = ByteReader(value)
        let length = try reader.length(limit: key?.count ?? .max)
        self.key = key ?? .empty
        self.value = value
        componentLength = key == nil ? 0 : length
        payloadStart = reader.position
    }

    /// A row that an index has written.
    ///
    /// - Throws: ``StoreError`` with `damaged` for bytes that no index has written.
    init(kept key: ByteView, _ value: ByteView) throws(StoreError) {
        do throws(MalformedBytes) {
            try self.init(key: key, value)
        } catch {
            throw IndexStore.malformed("a row")
        }
    }

    /// The emitted key, or what stands for a long one.
    package var component: ByteView { key.slice(0, componentLength) }

    /// Whether the emitted key was too long to be kept. Then rows of one ``beginning`` don't stand in the order of their keys.
    package var isCut: Bool { componentLength > IndexRows.longestKey }

    /// As much of the emitted key as is kept of it.
    package var beginning: ByteView { key.slice(0, min(componentLength, IndexRows.longestKey)) }

    /// The document's ID, UTF-8.
    package var documentID: ByteView {
        let rest = key.dropFirst(componentLength)
        for index in 0..<rest.count where rest[index] == 0 { return rest.slice(0, index) }
        return rest
    }

    /// What was emitted with the key.
    package var payload: ByteView { value.dropFirst(payloadStart) }
}
