import Roost
import RoostBytes
import RoostStorage

/// What has to be changed in an index as it is kept for it to show another moment: rows to pass over, and rows to add.
struct IndexOverlay: Sendable {
    /// Keys of rows that the index has, sorted.
    private(set) var hidden: [Key] = []
    /// Rows in their stead, sorted by key.
    private(set) var added: [IndexRow] = []
    /// The IDs of the documents whose rows were looked for.
    private var documents: Set<ByteKey> = []
    /// About how many bytes of memory it takes.
    private var size = 0

    /// Nothing to change.
    static let none = IndexOverlay()

    private init() {}

    /// All documents of a moment, over no index at all.
    ///
    /// - Throws: `limitExceeded` where that exceeds the memory that it may take, and what `step` throws, which is called now and then.
    init(all kept: KeptIndex, _ definition: IndexDefinition, _ step: () throws -> Void) throws {
        let snapshot = kept.collection
        let cursor = try snapshot.cursor()
        var page: [Document] = []
        repeat {
            try step()
            page.removeAll(keepingCapacity: true)
            var bytes = 0
            while page.count < 4_096, bytes < 16 << 20, let document = try cursor.next() {
                page.append(document)
                bytes += document.fleece.bytes.count
            }
            try add(page, definition, kept)
        } while !page.isEmpty
        added.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// The documents of `ids` as they are at the moment of what is kept, in the place of what the index has of them. What readers at
    /// earlier moments have found out is used, and noted for those at later ones.
    init(_ ids: Set<ByteKey>, _ definition: IndexDefinition, over kept: KeptIndex) throws {
        if let (known, since) = try kept.noted(Self.self) {
            self = known
            try look(at: since, definition, kept)
        } else {
            try look(at: ids, definition, kept)
        }
        kept.note(self)
    }

    private mutating func look(
        at ids: Set<ByteKey>, _ definition: IndexDefinition, _ kept: KeptIndex
    ) throws {
        guard !ids.isEmpty else { return }
        let unknown = ids.subtracting(documents).map(\.text)
        for (id, keys) in zip(unknown, try kept.documents?.values(unknown.map { Key($0) }) ?? []) {
            guard let keys else { continue }
            size += keys.count
            try OverlayLimit.check(size, kept.memoryLimit)
            for key in try DocumentRows.keys(keys, of: Array(id.utf8)) {
                guard try kept.rows?.contains(Key(key)) == true else {
                    throw IndexStore.malformed("a document with a row that is missing")
                }
                hidden.append(Key(key))
            }
        }
        if unknown.count < ids.count {
            let replaced = Set(ids.map { Array($0.text.utf8)[...] })
            added.removeAll { replaced.contains($0.documentID) }
        }
        documents.formUnion(ids)
        let changed = ids.map(\.text)
        for start in stride(from: 0, to: changed.count, by: Self.pageSize) {
            let page = Array(changed[start..<min(start + Self.pageSize, changed.count)])
            try add(try kept.collection.documents(ids: page), definition, kept)
        }
        hidden.sort()
        added.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// So many changed documents are in memory at once.
    private static let pageSize = 64

    private mutating func add(
        _ documents: [Document?], _ definition: IndexDefinition, _ kept: KeptIndex
    ) throws {
        for rows in try IndexMapping.rows(of: documents, kept.collection, definition) {
            for row in rows { size += row.key.count + row.value.count + 96 }
            try OverlayLimit.check(size, kept.memoryLimit)
            added += rows
        }
    }

    var isEmpty: Bool { hidden.isEmpty && added.isEmpty }

    /// Whether the index's row of that key is passed over. O(log n) for n hidden ones.
    func hides(_ key: ByteView) -> Bool {
        guard !hidden.isEmpty else { return false }
        let place = hidden.partitioningIndex { $0.bytes.withView { $0.compare(key) >= 0 } }
        return place < hidden.count && hidden[place].bytes.withView { $0.compare(key) == 0 }
    }

    /// The places in ``hidden`` of the keys in `range`.
    func hidden(in range: KeyRange) -> Range<Int> {
        let lower = range.lower.map { key in hidden.partitioningIndex { $0 >= key } } ?? 0
        let upper = range.upper.map { key in hidden.partitioningIndex { $0 >= key } } ?? hidden.count
        return lower..<max(lower, upper)
    }

    /// The places in ``added`` of the rows in `range`.
    func added(in range: KeyRange) -> Range<Int> {
        let lower = range.lower.map { key in added.partitioningIndex { Key($0.key) >= key } } ?? 0
        let upper = range.upper.map { key in added.partitioningIndex { Key($0.key) >= key } } ?? added.count
        return lower..<max(lower, upper)
    }
}
