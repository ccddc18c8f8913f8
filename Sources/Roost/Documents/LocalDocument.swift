import Fleece
import RoostBytes
import RoostStorage

/// A document that stays where it is: without history, never among the changes, never replicated. CouchDB's `_local/`
/// documents; replicators keep their checkpoints in them.
///
/// Its stored form is one byte for the version, 01, the revision as a varint, and the body as other documents have it.
public struct LocalDocument: Sendable {
    static let version: UInt8 = 1

    /// The name, without `_local/`.
    public let name: String
    /// How often it was saved since it was made: 1 and up. CouchDB writes it `0-1`.
    public let revision: UInt64

    let body: DocumentBody

    init(name: String, revision: UInt64, body: DocumentBody) {
        self.name = name
        self.revision = revision
        self.body = body
    }

    init(name: String, stored bytes: [UInt8]) throws(DatabaseError) {
        self = try bytes.withView { (bytes) throws(DatabaseError) in
            var reader = ByteReader(bytes)
            guard (try? reader.byte()) == Self.version, let revision = try? reader.varint() else {
                throw DatabaseError.damaged("A local document")
            }
            let body = try DocumentBody(stored: bytes.dropFirst(reader.position))
            return Self(name: name, revision: revision, body: body)
        }
    }

    var stored: [UInt8] {
        var bytes = [Self.version]
        bytes.append(varint: revision)
        body.append(to: &bytes)
        return bytes
    }

    /// The properties.
    public var properties: FleeceDictionary { body.dictionary }

    /// The value of a property; undefined when there is none.
    public subscript(key: String) -> FleeceValue { body.properties[key] }

    /// The properties as JSON text.
    public func json(_ format: JSONFormat = .compact) -> String { body.properties.root.json(format) }

    /// The properties decoded as a `T`.
    ///
    /// - Throws: `decodingFailed` when they are not those of a `T`, with the reason as the underlying error.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(DatabaseError) -> T {
        do {
            return try FleeceDecoder().decode(type, from: body.properties.root)
        } catch {
            throw DatabaseError(
                .decodingFailed,
                "The local document \(DatabaseError.quoted(name)) cannot be read as a \(type).",
                underlyingError: error)
        }
    }
}

extension WriteTransaction {
    /// Saves a JSON object as a local document.
    ///
    /// - Parameters:
    ///   - json: The text. `_id` in it must be the name with `_local/` before it, and `_rev` what is expected, written as
    ///     CouchDB does: `0-1`. Neither is stored.
    ///   - name: Its name without `_local/`, by the rules for document IDs.
    ///   - collection: Where it is to be.
    ///   - revision: The revision that must be there, 0 for none; by default anything.
    /// - Throws: `conflict`, `invalidDocument`, `invalidDocumentID`, `corruptRevisionData`, `invalidRevisionID`.
    @discardableResult
    public func saveLocalDocument(
        json: String, name: String, in collection: DocumentCollection, expecting revision: UInt64? = nil
    ) throws(DatabaseError) -> LocalDocument {
        try saveLocalDocument(
            try maker.document(json: json.utf8), name: name, in: collection, expecting: revision)
    }

    /// Saves what `value` encodes to as a local document; see ``saveLocalDocument(json:name:in:expecting:)``.
    @discardableResult
    public func saveLocalDocument(
        _ value: some Encodable, name: String, in collection: DocumentCollection,
        expecting revision: UInt64? = nil
    ) throws(DatabaseError) -> LocalDocument {
        try saveLocalDocument(
            try maker.document(encoding: value), name: name, in: collection, expecting: revision)
    }

    /// Saves a document that was parsed as a local one.
    private func saveLocalDocument(
        _ document: IncomingDocument, name: String, in collection: DocumentCollection,
        expecting revision: UInt64? = nil
    ) throws(DatabaseError) -> LocalDocument {
        let expected = try document.localRevision(name, expecting: revision)
        let present = try local(name, in: collection, expecting: expected)
        let saved = LocalDocument(
            name: name, revision: (present?.revision ?? 0) + 1, body: document.body)
        try writer(collection).put(saved.stored, under: ExtrasKey.local(name))
        return saved
    }

    /// Deletes a local document.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func deleteLocalDocument(
        _ name: String, in collection: DocumentCollection, expecting revision: UInt64? = nil
    ) throws(DatabaseError) -> Bool {
        guard try local(name, in: collection, expecting: revision) != nil else { return false }
        try writer(collection).removeExtra(ExtrasKey.local(name))
        return true
    }

    /// The local document that is there, if it is as expected.
    private func local(
        _ name: String, in collection: DocumentCollection, expecting revision: UInt64?
    ) throws(DatabaseError) -> LocalDocument? {
        _ = try DocumentID("_local/" + name)
        let present = try reader(collection).localDocument(name)
        guard revision == nil || revision == present?.revision ?? 0 else {
            throw DatabaseError(
                .conflict,
                "The local document is at revision \(present?.revision ?? 0). Read it again and repeat the change."
            )
        }
        return present
    }
}

extension IncomingDocument {
    /// The revision that must be there where this is to be the local document `name`: what `_rev` says, or `revision`.
    ///
    /// - Throws: `corruptRevisionData` for another `_id`, another revision than `revision`, and attachments;
    ///   `invalidRevisionID` for a `_rev` that is none of a local document.
    fileprivate func localRevision(
        _ name: String, expecting revision: UInt64?
    ) throws(DatabaseError) -> UInt64? {
        guard attachments == nil, contents.isEmpty else {
            throw DatabaseError(
                .corruptRevisionData,
                "A local document has no attachments. Leave \(ReservedNames.attachments) out.")
        }
        try claims?.checkID("_local/" + name)
        guard let text = claims?.revisionText else { return revision }
        let digits = text.dropFirst(2)
        guard text.utf8.starts(with: "0-".utf8), digits.first != "+", let claimed = UInt64(digits),
            "0-\(claimed)" == text
        else {
            throw DatabaseError(
                .invalidRevisionID,
                "\(DatabaseError.quoted(text)) is not the revision of a local document, which looks like 0-1."
            )
        }
        guard revision == nil || revision == claimed else {
            throw ReservedProperties.corrupt(
                ReservedNames.revision, "is not the revision that the change was based on")
        }
        return claimed
    }
}

extension CollectionReader {
    func localDocument(_ name: String) throws(DatabaseError) -> LocalDocument? {
        let bytes = try translating { () throws(StoreError) in
            try source[trees.extras, Key(ExtrasKey.local(name))]
        }
        guard let bytes else { return nil }
        return try LocalDocument(name: name, stored: bytes)
    }
}

extension CollectionSnapshot {
    /// A local document; `nil` when there is none.
    public func localDocument(_ name: String) throws(DatabaseError) -> LocalDocument? {
        try reader.localDocument(name)
    }

    /// The names of all local documents, in byte order.
    public var localDocumentNames: [String] {
        get throws(DatabaseError) {
            let cursor = try reader.extras.cursor(ExtrasKey.allLocal)
            var names: [String] = []
            while try translating({ () throws(StoreError) in try cursor.next() }) {
                let key = cursor.keyView
                guard !key.isEmpty else { throw DatabaseError.damaged("The name of a local document") }
                names.append(try String(documentID: key.dropFirst(1)))
            }
            return names
        }
    }
}

extension CollectionSnapshot {
    /// The first names of local documents of which the ID, `_local/` and the name, is in a selection, in its order. What the selection
    /// says of numbers does not count.
    package func localDocumentNames(
        in selection: DocumentSelection, limit: Int
    ) throws(DatabaseError) -> [String] {
        let (all, prefix) = (ExtrasKey.allLocal, Array("_local/".utf8))
        func key(_ id: Key) -> Key? {
            if id.bytes.starts(with: prefix) {
                return Key(ExtrasKey.local("") + id.bytes.dropFirst(prefix.count))
            }
            return id.bytes.lexicographicallyPrecedes(prefix) ? all.lower : all.upper
        }
        let range = selection.range
        let cursor = try reader.extras.cursor(
            KeyRange(
                lower: range.lower.flatMap(key) ?? all.lower, upper: range.upper.flatMap(key) ?? all.upper))
        func step() throws(StoreError) -> Bool {
            selection.isDescending ? try cursor.previous() : try cursor.next()
        }
        var names: [String] = []
        while names.count < limit, try translating({ () throws(StoreError) in try step() }) {
            names.append(try String(documentID: cursor.keyView.dropFirst(1)))
        }
        return names
    }
}

extension DocumentCollection {
    /// A local document; `nil` when there is none.
    public func localDocument(_ name: String) throws(DatabaseError) -> LocalDocument? {
        try reader.localDocument(name)
    }

    /// Saves a local document, durably: see ``WriteTransaction/saveLocalDocument(json:name:in:expecting:)``.
    @discardableResult
    public func saveLocalDocument(
        json: String, name: String, expecting revision: UInt64? = nil
    ) throws(DatabaseError) -> LocalDocument {
        try write { (transaction) throws(DatabaseError) in
            try transaction.saveLocalDocument(json: json, name: name, in: self, expecting: revision)
        }
    }

    /// Saves a local document, durably: see `saveLocalDocument(_:name:in:expecting:)`.
    @discardableResult
    public func saveLocalDocument(
        _ value: some Encodable, name: String, expecting revision: UInt64? = nil
    ) throws(DatabaseError) -> LocalDocument {
        try write { (transaction) throws(DatabaseError) in
            try transaction.saveLocalDocument(value, name: name, in: self, expecting: revision)
        }
    }

    /// Deletes a local document, durably; answers whether there was one.
    @discardableResult
    public func deleteLocalDocument(_ name: String, expecting revision: UInt64? = nil) throws(DatabaseError)
        -> Bool
    {
        try write { (transaction) throws(DatabaseError) in
            try transaction.deleteLocalDocument(name, in: self, expecting: revision)
        }
    }
}
