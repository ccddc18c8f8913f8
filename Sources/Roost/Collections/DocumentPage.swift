import Fleece
import RoostBytes
import RoostStorage

/// Some documents in one run of memory, each as it is stored: a large number of them is read without memory for each.
package struct DocumentPage: Sendable {
    /// Where a document stands: its ID, its entry, its body in the stored form.
    private struct Place: BitwiseCopyable {
        let id: Int
        let entry: Int
        let body: Int
        /// The part of the body that holds the properties.
        let properties: Int
        let end: Int
    }

    private var bytes: [UInt8] = []
    private var places: [Place] = []

    /// A page without documents.
    package init() {}

    /// These documents.
    package init(_ documents: some Sequence<Document>) { for document in documents { append(document) } }

    /// How many documents there are.
    package var count: Int { places.count }

    /// How many bytes they take.
    package var byteCount: Int { bytes.count }

    // MARK: Filling

    /// Appends the document that a cursor is at. What it shows is to be verified before it is used.
    package mutating func append(_ cursor: BodyCursor) throws(DatabaseError) {
        let stored = try cursor.storedBody()
        let properties = try DocumentBody.properties(ofStored: stored).count
        let id = bytes.count
        unsafe bytes.append(contentsOf: cursor.id.buffer)
        let entry = bytes.count
        unsafe bytes.append(contentsOf: cursor.entry.buffer)
        let body = bytes.count
        unsafe bytes.append(contentsOf: stored.buffer)
        let end = bytes.count
        places.append(Place(id: id, entry: entry, body: body, properties: end - properties, end: end))
    }

    /// Appends a document.
    package mutating func append(_ document: Document) {
        let id = bytes.count
        bytes.append(contentsOf: document.id.utf8)
        let entry = bytes.count
        StoredDocument.encodeHead(
            document.flags, sequence: document.sequence, expiration: nil, winner: document.revision,
            to: &bytes)
        let body = bytes.count
        document.body.append(to: &bytes)
        let end = bytes.count
        let properties = document.body.properties.bytes.count
        places.append(Place(id: id, entry: entry, body: body, properties: end - properties, end: end))
    }

    /// Takes all documents away and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    // MARK: Reading

    /// The UTF-8 of a document's ID.
    package func id(_ index: Int) -> ArraySlice<UInt8> { bytes[places[index].id..<places[index].entry] }

    /// Calls `body` with each document's number, the UTF-8 of its ID and its properties as Fleece, valid during the call.
    package func forEach<E: Error>(
        _ body: (_ index: Int, _ id: ByteView, _ properties: ByteView) throws(E) -> Void
    ) throws(E) {
        try bytes.withView { (view) throws(E) in
            for (index, place) in places.enumerated() {
                try body(
                    index, view.slice(place.id, place.entry - place.id),
                    view.slice(place.properties, place.end - place.properties))
            }
        }
    }

    /// A document.
    package func document(_ index: Int) throws(DatabaseError) -> Document {
        let place = places[index]
        return try bytes.withView { (view) throws(DatabaseError) in
            let body = try DocumentBody(stored: view.slice(place.body, place.end - place.body))
            let entry = try StoredDocument(view.slice(place.entry, place.body - place.entry))
            return Document(
                id: try String(documentID: view.slice(place.id, place.entry - place.id)),
                revision: entry.winner, sequence: entry.sequence, flags: entry.flags, body: body)
        }
    }
}

extension Document {
    /// The flags of its entry that it knows of.
    fileprivate var flags: StoredDocument.Flags {
        var flags: StoredDocument.Flags = []
        if isDeleted { flags.insert(.deleted) }
        if isConflicted { flags.insert(.conflicted) }
        if hasSeveralLeaves { flags.insert(.severalLeaves) }
        return flags
    }
}

extension CollectionSnapshot {
    /// Selections of the documents from `start` on, tombstones counted: `size` of them in each but the last, in order.
    ///
    /// - Parameter limit: How many selections there are at most.
    /// - Returns: The selections, and the ID that comes after them; `nil` where they reach the end. O(log n) for each.
    package func parts(
        of size: Int, from start: String? = nil, limit: Int = .max
    ) throws(DatabaseError) -> (parts: [DocumentSelection], next: String?) {
        let documents = try reader.documents
        let cursor = documents.cursor(KeyRange(lower: start.map { Key($0) }, upper: nil))
        var (parts, next): ([DocumentSelection], String?) = ([], start)
        repeat {
            var part = DocumentSelection(from: next)
            let rank = UInt64(parts.count + 1) * UInt64(size)
            let isThere = try translating { () throws(StoreError) in try cursor.seek(offset: rank) }
            next = isThere ? try String(documentID: cursor.keyView) : nil
            part.to = next
            part.includesEnd = false
            parts.append(part)
        } while next != nil && parts.count < limit
        return (parts, next)
    }
}
