import Fleece
import Roost
import RoostBytes
import RoostCrypto
import RoostWire

/// The blobs that a document names: in its properties, as Couchbase Lite does, and as attachments.
package struct BlobReferences {
    /// What begins the names of attachments that only repeat a blob of the properties.
    package static let blobPrefix = "blob_/"

    /// Those in the properties, each digest once.
    package private(set) var blobs: [FleeceValue] = []
    package private(set) var digests: Set<ByteKey> = []

    /// Those of the properties.
    package init(_ properties: FleeceValue) {
        var pending = [properties]
        while let value = pending.popLast() {
            if let members = value.dictionary {
                if value["@type"].string == "blob", let digest = value["digest"].string {
                    if Self.isDigest(digest), digests.insert(ByteKey(digest)).inserted { blobs.append(value) }
                } else {
                    for (_, member) in members where member.kind == .dictionary || member.kind == .array {
                        pending.append(member)
                    }
                }
            } else if let elements = value.array {
                for element in elements where element.kind == .dictionary || element.kind == .array {
                    pending.append(element)
                }
            }
        }
    }

    /// Those of a stored document.
    package init(_ document: Document) {
        self.init(document.value)
        for attachment in document.attachments.values { digests.insert(ByteKey(attachment.digest)) }
    }

    /// Whether it is a digest as Couchbase Lite writes it.
    package static func isDigest(_ text: String) -> Bool {
        text.removing(prefix: "sha1-").flatMap { Base64.decode($0.utf8) }?.count == 20
    }

    /// Whether an attachment of this name and value only repeats a blob of the properties.
    package func isRepeated(_ name: String, _ attachment: FleeceValue) -> Bool {
        name.begins(with: Self.blobPrefix)
            && attachment["digest"].string.map { digests.contains(ByteKey($0)) } == true
    }
}

extension Document {
    /// Whether all attachments have digests that Couchbase Lite accepts.
    package var canNameAttachments: Bool {
        attachments.values.allSatisfy { BlobReferences.isDigest($0.digest) }
    }

    /// The properties as Couchbase Lite reads them. They include CouchDB's attachments, together with all blobs, which the reader would
    /// otherwise take for missing; and none if it does not accept all of them.
    package func couchbaseJSON(_ references: BlobReferences) -> [UInt8] {
        var text = jsonBytes()
        guard !attachments.isEmpty, canNameAttachments else { return text }
        var members: NamedValues<DocumentValue> = [:]
        for (name, attachment) in attachments {
            members[name] = .dictionary([
                "content_type": .string(attachment.contentType ?? "application/octet-stream"),
                "digest": .string(attachment.digest), "length": .integer(Int64(clamping: attachment.length)),
                "revpos": .integer(Int64(clamping: attachment.revisionPosition)), "stub": .bool(true),
            ])
        }
        for (index, blob) in references.blobs.enumerated() {
            members["\(BlobReferences.blobPrefix)\(index)"] = DocumentValue(blob)
        }
        text.removeLast()
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        return text + "\"_attachments\":\(DocumentValue.dictionary(members))}".utf8
    }
}

/// The names of revisions in Couchbase Lite's protocol up to version 3: a generation and an even number of lower-case hexadecimal
/// digits.
///
/// Most revisions are called that here, too. Those that a CouchDB client named differently, such as `1-a`, have the SHA-1 of their
/// digest there, and are recognized by it among the document's revisions.
package struct TreeNames {
    /// What is wrong with the names that a peer sent.
    package enum Failure: Error, CustomStringConvertible {
        /// One of them is no name of a revision.
        case malformed
        /// An ancestor is not older than its descendant.
        case disordered

        package var description: String {
            switch self {
            case .malformed: "The name of a revision is malformed."
            case .disordered: "The history is not in order."
            }
        }
    }

    /// How many ancestors that a peer has dropped from a history are put in their places.
    private static let mostMissing: UInt64 = 1_000

    /// The document's revisions that have another name there, by that.
    private let others: [String: RevisionID]

    /// The names of a document's revisions.
    package init(of id: String, in snapshot: CollectionSnapshot) throws {
        let revisions = try snapshot.revisions(of: id).map(\.id).filter {
            !Self.isTreeDigest(Self.digest($0))
        }
        others = Dictionary(revisions.map { (Self.text($0), $0) }) { first, _ in first }
    }

    /// The name of a revision there.
    package static func text(_ revision: RevisionID) -> String {
        let digest = digest(revision)
        guard !isTreeDigest(digest) else { return revision.description }
        return "\(revision.generation)-\(RandomText.text(SHA1.hash(Array(digest.utf8)).bytes))"
    }

    /// The revision of a name, known or not; `nil` for a text that is no name there.
    package func revision(_ text: some StringProtocol) -> RevisionID? {
        let text = String(text)
        guard let revision = RevisionID(text), Self.isTreeDigest(Self.digest(revision)) else { return nil }
        return others[text] ?? revision
    }

    /// A revision and its ancestors, newest first. Peers drop ancestors from long histories; these get names that follow from their
    /// descendants', so that the history has no gaps and is the same whenever it is sent.
    ///
    /// - Parameter history: The names of the ancestors, newest first, with commas between them.
    package func lineage(_ name: String, _ history: String?) throws(Failure) -> [RevisionID] {
        let texts = [name[...]] + (history?.split(separator: ",") ?? [])
        var lineage: [RevisionID] = []
        for text in texts {
            guard let revision = revision(text.drop { $0 == " " }) else { throw .malformed }
            guard let child = lineage.last else {
                lineage.append(revision)
                continue
            }
            guard revision.generation < child.generation else { throw .disordered }
            guard child.generation - revision.generation <= Self.mostMissing else { break }
            var next = child
            while next.generation > revision.generation + 1 {
                let digest = RandomText.text(Array(SHA1.hash(Array("before \(next)".utf8)).bytes.prefix(16)))
                guard let missing = RevisionID("\(next.generation - 1)-\(digest)") else { break }
                lineage.append(missing)
                next = missing
            }
            lineage.append(revision)
        }
        return lineage
    }

    private static func digest(_ revision: RevisionID) -> Substring {
        revision.description.drop { $0 != "-" }.dropFirst()
    }

    private static func isTreeDigest(_ digest: Substring) -> Bool {
        !digest.isEmpty && digest.utf8.count % 2 == 0
            && digest.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}

/// A revision as a server sends it.
enum PulledDocument {
    /// The revision as CouchDB's API gives it, and what it names.
    ///
    /// - Parameter history: The revision and its ancestors, newest first.
    /// - Returns: The text; the blobs of its properties; the digests of its attachments, by name.
    static func text(
        _ id: String, _ history: [RevisionID], _ content: CouchbaseLink.Arrival.Content
    ) throws -> (text: [UInt8], blobs: [NamedBlob], digests: [String: String]) {
        let body: FleeceValue
        do {
            body = try FleeceDocument(json: content.body).root
        } catch {
            throw DatabaseError(.invalidDocument, "The server sent a revision that is no JSON.")
        }
        guard let members = body.dictionary else {
            throw DatabaseError(.invalidDocument, "The server sent a revision that is no JSON object.")
        }
        let references = BlobReferences(body)
        var text = Array(
            "{\"_id\":\(DocumentValue.string(id)),\"_revisions\":{\"start\":\(history[0].generation),\"ids\":["
                .utf8)
        for (index, revision) in history.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += "\"\(revision.description.drop { $0 != "-" }.dropFirst())\"".utf8
        }
        text += "]}".utf8
        if content.isDeleted { text += ",\"_deleted\":true".utf8 }
        for (name, value) in members where name.utf8.first != UInt8(ascii: "_") {
            text += ",\(DocumentValue.string(name)):".utf8 + value.jsonBytes()
        }
        var digests: [String: String] = [:]
        var stubs: NamedValues<DocumentValue> = [:]
        for (name, value) in body["_attachments"].dictionary ?? .empty
        where !references.isRepeated(name, value) {
            stubs[name] = DocumentValue(value)
            digests[name] = value["digest"].string
        }
        if !stubs.isEmpty { text += ",\"_attachments\":\(DocumentValue.dictionary(stubs))".utf8 }
        text.append(UInt8(ascii: "}"))
        let blobs = references.blobs.compactMap { value in
            value["digest"].string.map {
                NamedBlob(digest: $0, contentType: value["content_type"].string, described: Blob(value))
            }
        }
        return (text, blobs, digests)
    }
}
