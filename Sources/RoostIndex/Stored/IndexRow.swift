import RoostBytes
import RoostCrypto

/// A row of an index.
///
/// In the tree its key is the emitted key, then the document's ID and, for a second row of the same key and document, 00
/// and the row's number; its value is the emitted key's length as a varint and the payload.
package struct IndexRow: Sendable, Hashable {
    /// The key in the tree, which no other row has.
    package let key: [UInt8]
    private let stored: [UInt8]
    private let componentLength: Int
    private let payloadStart: Int

    /// - Parameter stored: its value in the tree.
    package init(key: [UInt8], _ stored: ByteView) throws(MalformedBytes) {
        var reader = ByteReader(stored)
        componentLength = try reader.length(limit: key.count)
        payloadStart = reader.position
        self.key = key
        self.stored = stored.array
    }

    init(component: [UInt8], documentID: some Collection<UInt8>, ordinal: Int, payload: [UInt8]) {
        var key = component + documentID
        if ordinal > 0 {
            key.append(0)
            RowKey.appendOrdered(UInt32(clamping: ordinal), to: &key)
        }
        self.key = key
        let buffer = ByteBuffer(capacity: payload.count + 4)
        buffer.append(varint: UInt64(component.count))
        payloadStart = buffer.count
        buffer.append(payload)
        stored = buffer.view.array
        componentLength = component.count
    }

    /// The value in the tree.
    package var value: [UInt8] { stored }

    /// The emitted key, or what stands for a long one.
    package var component: ArraySlice<UInt8> { key[..<componentLength] }

    /// Whether the emitted key was too long to be kept. Then rows of one ``beginning`` don't stand in the order of their keys.
    package var isCut: Bool { componentLength > IndexRows.longestKey }

    /// As much of the emitted key as is kept of it.
    package var beginning: ArraySlice<UInt8> { key[..<min(componentLength, IndexRows.longestKey)] }

    /// The document's ID, UTF-8.
    package var documentID: ArraySlice<UInt8> {
        let rest = key[componentLength...]
        return rest.firstIndex(of: 0).map { rest[..<$0] } ?? rest
    }

    /// What was emitted with the key.
    package var payload: ArraySlice<UInt8> { stored[payloadStart...] }
}

/// How keys of rows are made.
package enum RowKey {
    private static let hashLength = 16

    /// An emitted key as rows have it: as it is, or the beginning of a long one and a hash of it, so that equal keys stay
    /// equal. Keys that are equal up to there order by the hash.
    package static func component(_ key: ByteView) -> [UInt8] {
        guard key.count > IndexRows.longestKey else { return key.array }
        return key.slice(0, IndexRows.longestKey).array + SHA256.hash(key.array).bytes.prefix(hashLength)
    }

    /// A number so that bytes order as numbers do.
    static func appendOrdered(_ number: UInt32, to key: inout [UInt8]) {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }.drop { $0 == 0 }
        key.append(UInt8(bytes.count))
        key.append(contentsOf: bytes)
    }
}
