import RoostBytes
import RoostStorage

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

    /// The collection's metadata of this name as of now, with what the batch has set; `nil` when there is none.
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
        try write { (batch) throws(DatabaseError) in try batch.setMetadata(bytes, name: name, in: self) }
    }
}
