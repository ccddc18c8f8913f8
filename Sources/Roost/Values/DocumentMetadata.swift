import Fleece

/// What JSON text says of a document besides its properties, under the names that CouchDB gives it.
///
/// ```swift
/// document.json(with: .all)     // {"_id":"n1","_rev":"1-3f…","title":"Swifts"}
/// ```
///
/// None of it is stored with the properties; saving such text takes it out again and checks it.
public struct DocumentMetadata: OptionSet, Sendable {
    /// The bits, for `OptionSet`.
    public let rawValue: UInt16

    /// A set with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `_id`: the document's name.
    public static let id = Self(rawValue: 1 << 0)
    /// `_rev`: the revision.
    public static let revision = Self(rawValue: 1 << 1)
    /// `_deleted`, of a tombstone only.
    public static let deletion = Self(rawValue: 1 << 2)
    /// `_attachments`, as stubs, where there are any; see ``Database/json(inliningAttachmentsOf:_:with:)``.
    public static let attachments = Self(rawValue: 1 << 3)

    /// With ``attachments``: the MD5 of the content as the digest, as CouchDB gives it, in place of its SHA.
    public static let md5Digests = Self(rawValue: 1 << 4)
    /// `_revisions`: the revision and its ancestors. Only ``CollectionSnapshot/json(_:_:with:)`` gives this and what follows.
    public static let revisions = Self(rawValue: 1 << 5)
    /// `_revs_info`: the same, with what is known of each: `available`, `missing` or `deleted`.
    public static let revisionsInfo = Self(rawValue: 1 << 6)
    /// `_conflicts`: the other live leaves, where there are any.
    public static let conflicts = Self(rawValue: 1 << 7)
    /// `_deleted_conflicts`: the other leaves that are tombstones, where there are any.
    public static let deletedConflicts = Self(rawValue: 1 << 8)
    /// `_local_seq`: the document's place in the changes.
    public static let localSequence = Self(rawValue: 1 << 9)

    /// What identifies a document and its content: what CouchDB sends unless it is asked for more.
    public static let all: Self = [.id, .revision, .deletion, .attachments]
}

extension Document {
    /// The properties as JSON text, with `metadata` before them: see ``json(_:)``.
    public func json(_ format: JSONFormat = .compact, with metadata: DocumentMetadata) -> String {
        String(decoding: jsonBytes(format, with: metadata), as: UTF8.self)
    }

    /// The properties as JSON text in UTF-8, with `metadata` before them: see ``json(_:)``.
    public func jsonBytes(_ format: JSONFormat = .compact, with metadata: DocumentMetadata) -> [UInt8] {
        jsonBytes(
            format, with: metadata,
            attachments: metadata.contains(.attachments) ? attachmentStubs(metadata) : [:])
    }

    /// The same, with what is to stand under `_attachments`, if there is any.
    func jsonBytes(
        _ format: JSONFormat, with metadata: DocumentMetadata, attachments: NamedValues<DocumentValue>,
        _ further: [(name: String, value: DocumentValue)] = []
    ) -> [UInt8] {
        let isPretty = format == .pretty
        let body = jsonBytes(format)
        var text: [UInt8] = []
        text.reserveCapacity(body.count + id.utf8.count + 80)
        func begin(_ name: String) {
            text += (text.isEmpty ? "{" : ",").utf8
            text += (isPretty ? "\n  \"\(name)\": " : "\"\(name)\":").utf8
        }
        func add(_ name: String, _ value: DocumentValue) {
            begin(name)
            text += value.description.utf8
        }
        if metadata.contains(.id) {
            begin(ReservedNames.id)
            text.append(jsonString: id)
        }
        if metadata.contains(.revision) {
            begin(ReservedNames.revision)
            text.append(jsonString: revision.description)
        }
        if metadata.contains(.deletion), isDeleted { add(ReservedNames.deleted, .bool(true)) }
        for (name, value) in further { add(name, value) }
        if !attachments.isEmpty { add(ReservedNames.attachments, .dictionary(attachments)) }
        guard !text.isEmpty else { return body }
        if properties.isEmpty {
            text += (isPretty ? "\n}" : "}").utf8
        } else {
            text.append(UInt8(ascii: ","))
            text += body.dropFirst()
        }
        return text
    }
}
