import Roost
import RoostBytes
import RoostStorage

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
