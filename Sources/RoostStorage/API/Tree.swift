/// Names one of a store's ordered trees. Valid in every transaction and snapshot in which the tree exists.
public struct Tree: Hashable, Sendable {
    /// The tree's number, which is never given to another.
    package let id: UInt64
    /// The tree's name.
    public let name: String

    init(id: UInt64, name: String) {
        self.id = id
        self.name = name
    }

    static func check(name: String, reduction: String) throws(StoreError) {
        guard reduction.utf8.count <= Format.maximumNameLength else {
            throw StoreError(
                .limitExceeded,
                "A reduction's name takes up to \(Format.maximumNameLength) bytes of UTF-8; this one takes "
                    + "\(reduction.utf8.count).")
        }
        guard !name.isEmpty, name.utf8.count <= Format.maximumNameLength else {
            throw StoreError(
                .limitExceeded,
                "A tree's name takes 1 to \(Format.maximumNameLength) bytes of UTF-8; this one takes "
                    + "\(name.utf8.count).")
        }
    }

    func missing(in path: String) -> StoreError {
        StoreError(.notFound, "\(path) has no tree \"\(name)\" here: it was deleted, or is not made yet.")
    }
}

/// A value outside the trees, by which several entries can share it.
@usableFromInline package struct ValueReference: Hashable, Sendable {
    let chunk: ChunkReference

    /// Bytes that the value takes in the file.
    package var storedLength: Int { Int(chunk.length) }
}
