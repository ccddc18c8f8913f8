import RoostBytes

/// One change as the commit log holds it. Operations say what the result is, never how to get there, so that
/// replaying them onto a tree that contains some of them already ends in the same tree.
///
/// Views are valid while the operation is being handled.
enum LogOperation {
    case put(key: ByteView, Entry)
    case delete(key: ByteView)
    /// Deletes the keys from `lower` up to, not including, `upper`; `nil` is open.
    case deleteRange(lower: [UInt8]?, upper: [UInt8]?)
    /// Puts a stored leaf at the end of the tree, in the place of everything at or after its first key.
    case appendLeaf(ChunkReference)

    enum Code {
        /// The low two bits are the entry's reference kind.
        static let put: UInt8 = 0x10
        static let delete: UInt8 = 0x20
        static let deleteRange: UInt8 = 0x21
        static let appendLeaf: UInt8 = 0x30
    }
}

/// A change of the set of trees. Tree identifiers are never used twice.
enum TreeOperation: Equatable {
    case create(id: UInt64, name: String, reduction: String)
    case drop(id: UInt64)

    enum Code {
        static let create: UInt8 = 0x01
        static let drop: UInt8 = 0x02
    }
}
