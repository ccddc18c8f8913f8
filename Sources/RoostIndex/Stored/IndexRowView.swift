import RoostBytes

/// A row of an index where it stands in a tree or in memory, without a copy. Valid while its bytes are.
package struct IndexRowView {
    /// The emitted key, or what stands for a long one.
    package let component: ByteView
    /// What was emitted with the key.
    package let payload: ByteView
    private let rest: ByteView

    /// - Parameters:
    ///   - key: the row's key in the tree; `nil` for a row of which only the payload is looked at.
    ///   - stored: its value there.
    init(key: ByteView?, _ stored: ByteView) throws(MalformedBytes) {
        var reader = ByteReader(stored)
        let length = try reader.length(limit: key?.count ?? .max)
        component = key?.slice(0, length) ?? .empty
        rest = key?.dropFirst(length) ?? .empty
        payload = stored.slice(reader.position, stored.count - reader.position)
    }

    /// The document's ID, UTF-8.
    package var documentID: ByteView {
        for index in 0..<rest.count where rest[index] == 0 { return rest.slice(0, index) }
        return rest
    }
}

extension IndexRow {
    /// Calls `body` with the row as a view.
    func withRowView<R>(_ body: (IndexRowView) throws -> R) throws -> R {
        try key.withView { key in try value.withView { try body(try IndexRowView(key: key, $0)) } }
    }
}
