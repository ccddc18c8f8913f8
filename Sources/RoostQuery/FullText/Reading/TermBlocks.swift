import RoostBytes
import RoostStorage

/// The blocks of one term in one segment, in the order of their documents.
protocol TermBlocks: AnyObject {
    /// Goes to the first block, or the one after the present one; `false` after the last.
    func next() throws(StoreError) -> Bool
    /// Goes to the last block that begins at or before a document, or else to the first one.
    func seek(_ document: Int) throws(StoreError) -> Bool
    /// The number of the first document in the present block.
    var first: Int { get }
    /// Calls `body` with the present block.
    func withBlock<R>(_ body: (ByteView) throws(StoreError) -> R) throws(StoreError) -> R
}

/// The blocks of a term in a tree.
final class StoredBlocks: TermBlocks {
    private let cursor: Cursor
    private let prefix: [UInt8]

    init(_ rows: TreeView, _ segment: UInt32, _ term: some Collection<UInt8>) {
        prefix = TextKeys.prefix(segment, term)
        cursor = rows.cursor(KeyRange(prefix: Key(prefix)))
    }

    func next() throws(StoreError) -> Bool { try cursor.next() }

    func seek(_ document: Int) throws(StoreError) -> Bool {
        if try cursor.seek(Key(prefix + TextKeys.bytes(document))), first == document { return true }
        if try cursor.previous() { return true }
        return try cursor.next()
    }

    var first: Int { TextKeys.number(cursor.keyView) }

    func withBlock<R>(_ body: (ByteView) throws(StoreError) -> R) throws(StoreError) -> R {
        let result = try body(try cursor.valueView())
        try cursor.checkMapping()
        return result
    }
}

/// The blocks of a term in memory.
final class MemoryBlocks: TermBlocks {
    typealias Block = (first: Int, bytes: [UInt8])

    private let blocks: [Block]
    private var index = -1

    init(_ blocks: [Block]) { self.blocks = blocks }

    func next() -> Bool {
        index += 1
        return index < blocks.count
    }

    func seek(_ document: Int) -> Bool {
        index = max((blocks.firstIndex { $0.first > document } ?? blocks.count) - 1, 0)
        return index < blocks.count
    }

    var first: Int { blocks[index].first }

    func withBlock<R>(_ body: (ByteView) throws(StoreError) -> R) throws(StoreError) -> R {
        try blocks[index].bytes.withView(body)
    }
}
