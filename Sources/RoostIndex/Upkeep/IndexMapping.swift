import Dispatch
import Roost
import RoostBytes
import RoostStorage
import Synchronization

/// Maps documents, keeping their order.
enum IndexMapping {
    /// How many documents are mapped by one call at most, and how many bytes of them: what exceeds that is mapped by the next.
    private static let pageSize = 256
    private static let pageBytes = 1 << 20

    /// The rows of each of `documents`, which are of one moment; none for a document that is `nil`.
    ///
    /// - Throws: what the definition's map throws.
    static func rows(
        of documents: [Document?], _ moment: CollectionSnapshot, _ definition: IndexDefinition
    ) throws -> [[IndexRow]] {
        let present = documents.compactMap(\.self)
        let starts = Array(stride(from: 0, to: present.count, by: pageSize))
        let runs = try concurrently(starts.count) { number in
            let end = min(starts[number] + pageSize, present.count)
            return try map(DocumentPage(present[starts[number]..<end]), moment, definition)
        }
        var rows = runs.lazy.flatMap { run in (0..<run.documentCount).lazy.map { run.rows(of: $0) } }
            .makeIterator()
        return documents.map { $0 == nil ? [] : rows.next() ?? [] }
    }

    /// The rows of a part of the documents of a moment, mapped on this thread.
    ///
    /// - Throws: what the definition's map throws, and what can't be read.
    static func rows(
        ofPart part: DocumentSelection, _ moment: CollectionSnapshot, _ definition: IndexDefinition
    ) throws -> MappedPart {
        let cursor = try moment.bodyCursor(part)
        var rows = MappedPart()
        var page = DocumentPage()
        var isAtEnd = false
        while !isAtEnd {
            page.removeAll()
            while page.count < pageSize, page.byteCount < pageBytes {
                guard try cursor.next() else {
                    isAtEnd = true
                    break
                }
                try page.append(cursor)
            }
            try cursor.verify()
            if page.count > 0 { rows.add(try map(page, moment, definition), of: page) }
        }
        return rows
    }

    private static func map(
        _ documents: DocumentPage, _ moment: CollectionSnapshot, _ definition: IndexDefinition
    ) throws -> IndexRows {
        let rows = try definition.map(documents, moment)
        guard rows.documentCount == documents.count else {
            throw DatabaseError(
                .invalidDocument,
                "The map of \(definition.name) answered for \(rows.documentCount) of \(documents.count) documents."
            )
        }
        return rows
    }

    /// What `work` makes of each number below `count`, on all cores.
    ///
    /// - Throws: the error of the least number for which it throws.
    private static func concurrently<R: Sendable>(
        _ count: Int, _ work: @Sendable (Int) throws -> R
    ) throws -> [R] {
        guard count > 1, hasRoomForThread else { return try (0..<count).map(work) }
        let results = Mutex([Result<R, any Error>?](repeating: nil, count: count))
        DispatchQueue.concurrentPerform(iterations: count) { number in
            let result = Result { try work(number) }
            results.withLock { $0[number] = result }
        }
        return try results.withLock { try $0.compactMap { try $0?.get() } }
    }
}

// MARK: - Mapped part

/// The rows of documents that follow each other, as they were mapped, in one run of memory.
struct MappedPart: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var rows: [IndexRows.Place] = []
    /// The first row of each document that has any; the others follow it.
    private var documents: [Int] = []
    /// The ID of the last document, UTF-8; empty where there was none.
    private(set) var last: [UInt8] = []
    /// How many documents were added, also those without rows.
    private(set) var documentCount = 0

    /// Adds the rows of the documents of a page.
    mutating func add(_ run: IndexRows, of page: DocumentPage) {
        let (first, distance) = (rows.count, bytes.count)
        bytes += run.bytes
        for var place in run.places {
            place.start += distance
            rows.append(place)
        }
        for document in 0..<page.count {
            let range = run.range(of: document)
            if !range.isEmpty { documents.append(first + range.lowerBound) }
        }
        documentCount += page.count
        last = Array(page.id(page.count - 1))
    }

    /// Appends the keys of each document's rows.
    func appendDocuments(to tree: Tree, in transaction: StoreTransaction) throws(StoreError) {
        let keys = ByteBuffer()
        try bytes.withView { (bytes) throws(StoreError) in
            for (number, first) in documents.enumerated() {
                let end = number + 1 < documents.count ? documents[number + 1] : rows.count
                // The key of a document's first row ends with its ID.
                let id = rows[first].rest(in: bytes)
                keys.reset(keeping: 1 << 16)
                for row in rows[first..<end] { DocumentRows.append(row.component(in: bytes), to: keys) }
                try transaction.put(id, keys.view, in: tree)
            }
        }
    }
}
