import RoostBytes
import RoostStorage

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
