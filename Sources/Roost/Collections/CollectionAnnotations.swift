import RoostBytes
import RoostStorage

// What a layer above keeps beside the documents, in the very transactions that change them: entries under keys of its own, in the
// order of their bytes. They stand in no list, among no changes, and are never replicated.

extension WriteTransaction {
    /// Sets an entry, in place of what it was; `nil` removes it.
    package func annotate(
        _ key: [UInt8], with value: [UInt8]?, in collection: DocumentCollection
    ) throws(DatabaseError) {
        let writer = try writer(collection)
        guard let value else { return try writer.removeExtra(ExtrasKey.annotation(key)) }
        try writer.put(value, under: ExtrasKey.annotation(key))
    }

    /// An entry as of now, with what the transaction has set.
    package func annotation(
        _ key: [UInt8], in collection: DocumentCollection
    ) throws(DatabaseError) -> [UInt8]? {
        let reader = try writer(collection).reader
        return try translating { () throws(StoreError) in
            try reader.source[reader.trees.extras].value(Key(ExtrasKey.annotation(key)))
        }
    }

    /// Gives a document the next sequence and changes nothing in it: for a layer above that has decided anew what follows from it, so
    /// that readers of the changes look at it again. Nothing happens where there is no such document.
    package func resequence(_ id: String, in collection: DocumentCollection) throws(DatabaseError) {
        let writer = try writer(collection)
        try writer.resequence(writer.keyView(try DocumentID(revisioned: id)))
    }

    /// What a document is as of now, its bodies aside; `nil` where there is none.
    package func standing(
        of id: String, in collection: DocumentCollection
    ) throws(DatabaseError) -> DocumentStanding? {
        let writer = try writer(collection)
        return try id.withUTF8View { (key) throws(DatabaseError) in
            try writer.load(key).map(DocumentStanding.init)
        }
    }

    /// The document's leaves as of now, the winner first; see ``CollectionSnapshot/leaves(of:)``.
    package func leaves(
        of id: String, in collection: DocumentCollection
    ) throws(DatabaseError) -> [RevisionInfo] {
        try standing(of: id, in: collection)?.leaves ?? []
    }

    /// The sequence of the newest change, with those of the transaction.
    package func lastSequence(in collection: DocumentCollection) throws(DatabaseError) -> UInt64 {
        try writer(collection).record.lastSequence
    }

    /// How many documents there are whose IDs begin with `prefix`, the deleted among them. O(log n).
    package func count(
        ofIDs prefix: String, in collection: DocumentCollection
    ) throws(DatabaseError) -> UInt64 {
        let documents = try reader(collection).documents
        return try translating { () throws(StoreError) in
            try documents.count(in: KeyRange(prefix: Key(Array(prefix.utf8))))
        }
    }
}

/// What a document is within a transaction, its bodies aside.
package struct DocumentStanding {
    private let document: LoadedDocument

    fileprivate init(_ document: LoadedDocument) { self.document = document }

    /// The sequence of the document's newest change.
    package var sequence: UInt64 { document.sequence }
    /// The revision that stands for the document.
    package var winner: RevisionID { document.winner }
    /// Whether that is a tombstone.
    package var isDeleted: Bool { !document.isLive }
    /// The leaves, the winner first. O(n) in the number of revisions.
    package var leaves: [RevisionInfo] {
        document.tree.leaves.map { RevisionInfo($0, in: document.tree, winner: document.winner) }
    }
}

extension CollectionSnapshot {
    /// An entry that a layer above keeps; `nil` when there is none.
    package func annotation(_ key: [UInt8]) throws(DatabaseError) -> [UInt8]? {
        try translating { () throws(StoreError) in
            try reader.source[reader.trees.extras, Key(ExtrasKey.annotation(key))]
        }
    }

    /// The values of the first entries whose keys begin with `prefix` and come after `prefix` + `rest`.
    package func annotations(
        under prefix: [UInt8], after rest: [UInt8], limit: Int
    ) throws(DatabaseError) -> [[UInt8]] {
        let all = KeyRange(prefix: Key(ExtrasKey.annotation(prefix)))
        let range = KeyRange(lower: Key(ExtrasKey.annotation(prefix + rest) + [0]), upper: all.upper)
        let cursor = try reader.extras.cursor(range)
        var values: [[UInt8]] = []
        while values.count < limit, try translating({ () throws(StoreError) in try cursor.next() }) {
            values.append(try translating { () throws(StoreError) in try cursor.value() })
        }
        return values
    }

    /// The value of the last entry whose key begins with `prefix`; `nil` when there is none. O(log n).
    package func lastAnnotation(under prefix: [UInt8]) throws(DatabaseError) -> [UInt8]? {
        let cursor = try reader.extras.cursor(KeyRange(prefix: Key(ExtrasKey.annotation(prefix))))
        return try translating { () throws(StoreError) in try cursor.previous() ? try cursor.value() : nil }
    }

    /// What follows `prefix` in the keys of the first entries that begin with it, where that is an ID of a selection, in its order.
    package func annotationKeys(
        under prefix: [UInt8], in selection: DocumentSelection = DocumentSelection(), limit: Int = .max
    ) throws(DatabaseError) -> [[UInt8]] {
        let (start, range) = (ExtrasKey.annotation(prefix), selection.range)
        let cursor = try reader.extras.cursor(
            KeyRange(
                lower: Key(start + (range.lower?.bytes ?? [])),
                upper: range.upper.map { Key(start + $0.bytes) } ?? KeyRange(prefix: Key(start)).upper))
        func step() throws(StoreError) -> Bool {
            selection.isDescending ? try cursor.previous() : try cursor.next()
        }
        var keys: [[UInt8]] = []
        while keys.count < limit, try translating({ () throws(StoreError) in try step() }) {
            keys.append(Array(cursor.key.bytes.dropFirst(start.count)))
        }
        return keys
    }
}

// MARK: - CollectionMetadata

// What an application keeps about a collection beside its documents, such as who may read it. It is no document: it
// stands in no list, among no changes, and is never replicated.

extension WriteTransaction {
    /// The longest metadata of one name, in bytes: 1 MiB.
    public static let maximumMetadataLength = 1 << 20

    /// Sets a collection's metadata of this name, in place of what it was; `nil` removes it.
    ///
    /// - Parameters:
    ///   - bytes: Anything, up to ``maximumMetadataLength`` bytes.
    ///   - name: 1 to 255 bytes of UTF-8.
    ///   - collection: Which one.
    /// - Throws: `limitExceeded`, `invalidName`.
    public func setMetadata(
        _ bytes: [UInt8]?, name: String, in collection: DocumentCollection
    ) throws(DatabaseError) {
        guard (1...255).contains(name.utf8.count) else {
            throw DatabaseError(
                .invalidName,
                "The name of metadata \(DatabaseError.quoted(name)) has \(name.utf8.count) bytes. Give it 1 to 255."
            )
        }
        let writer = try writer(collection)
        guard let bytes else { return try writer.removeExtra(ExtrasKey.metadata(name)) }
        guard bytes.count <= Self.maximumMetadataLength else {
            throw DatabaseError(
                .limitExceeded,
                "The metadata \(DatabaseError.quoted(name)) has \(bytes.count) bytes, and the most is "
                    + "\(Self.maximumMetadataLength). Keep it in a document.")
        }
        try writer.put(bytes, under: ExtrasKey.metadata(name))
    }

    /// The collection's metadata of this name as of now, with what the transaction has set; `nil` when there is none.
    public func metadata(
        _ name: String, in collection: DocumentCollection
    ) throws(DatabaseError) -> [UInt8]? {
        let reader = try reader(collection)
        return try translating { () throws(StoreError) in
            try reader.source[reader.trees.extras].value(Key(ExtrasKey.metadata(name)))
        }
    }
}

extension CollectionSnapshot {
    /// The collection's metadata of this name; `nil` when there is none.
    public func metadata(_ name: String) throws(DatabaseError) -> [UInt8]? {
        try translating { () throws(StoreError) in
            try reader.source[reader.trees.extras, Key(ExtrasKey.metadata(name))]
        }
    }
}

extension DocumentCollection {
    /// The collection's metadata of this name; `nil` when there is none.
    public func metadata(_ name: String) throws(DatabaseError) -> [UInt8]? { try snapshot().metadata(name) }

    /// Sets the collection's metadata of this name, durably: see ``WriteTransaction/setMetadata(_:name:in:)``.
    public func setMetadata(_ bytes: [UInt8]?, name: String) throws(DatabaseError) {
        try write { (transaction) throws(DatabaseError) in
            try transaction.setMetadata(bytes, name: name, in: self)
        }
    }
}
