import Fleece
import RoostBlobs
import RoostBytes
import RoostCrypto

/// A reference to bytes in the database's blob store, as a document holds it.
///
/// In JSON it is `{"@type":"blob","content_type":…,"length":…,"digest":"sha1-…"}`, as Couchbase Lite writes it. Types
/// that are Codable can have properties of this type.
public struct Blob: Hashable, Sendable {
    /// The digest of the content: `sha1-` and base64.
    public let digest: String
    /// The length of the content in bytes.
    public let length: UInt64
    /// The MIME type, where one was given.
    public let contentType: String?
    /// The MD5 digests, where they were computed when it was stored. No part of the reference.
    var checksums: BlobChecksums?
    /// Removes the content with the last copy of this reference unless a document names it then; only of content that was stored for a
    /// document that may be refused. No part of the reference.
    var hold: BlobHold?

    init(digest: String, length: UInt64, contentType: String?, checksums: BlobChecksums? = nil) {
        self.digest = digest
        self.length = length
        self.contentType = contentType
        self.checksums = checksums
    }

    /// The blob that a document's property refers to; `nil` when it is something else.
    public init?(_ value: DocumentValue?) {
        guard case .dictionary(let fields)? = value, fields["@type"] == .string("blob"),
            case .string(let digest)? = fields["digest"], case .integer(let length)? = fields["length"],
            let length = UInt64(exactly: length)
        else { return nil }
        var contentType: String?
        if case .string(let text)? = fields["content_type"] { contentType = text }
        self.init(digest: digest, length: length, contentType: contentType)
    }

    /// The blob that a property of a stored document refers to; `nil` when it is something else.
    public init?(_ value: FleeceValue) {
        guard value["@type"].string == "blob", let digest = value["digest"].string,
            let length = value["length"].uint64
        else { return nil }
        self.init(digest: digest, length: length, contentType: value["content_type"].string)
    }

    /// The reference as a property of a document.
    public var value: DocumentValue {
        var fields: NamedValues<DocumentValue> = [
            "@type": "blob", "digest": .string(digest), "length": .integer(Int64(clamping: length)),
        ]
        if let contentType { fields["content_type"] = .string(contentType) }
        return .dictionary(fields)
    }
}

extension Blob {
    /// Whether both refer to the same content with the same type.
    public static func == (left: Self, right: Self) -> Bool {
        left.digest == right.digest && left.length == right.length && left.contentType == right.contentType
    }

    /// Hashes the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension Blob: Codable {
    private enum Field: String, CodingKey {
        case type = "@type"
        case digest
        case length
        case contentType = "content_type"
    }

    /// Decodes a reference.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        guard try fields.decode(String.self, forKey: .type) == "blob" else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: fields, debugDescription: "This is no reference to a blob.")
        }
        self.init(
            digest: try fields.decode(String.self, forKey: .digest),
            length: try fields.decode(UInt64.self, forKey: .length),
            contentType: try fields.decodeIfPresent(String.self, forKey: .contentType))
    }

    /// Encodes the reference.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode("blob", forKey: .type)
        try fields.encode(digest, forKey: .digest)
        try fields.encode(length, forKey: .length)
        try fields.encodeIfPresent(contentType, forKey: .contentType)
    }
}

// MARK: - BlobChecksums

/// The MD5 digests by which CouchDB and its kin know an attachment.
struct BlobChecksums: Sendable, Hashable {
    /// The length of an MD5 in bytes.
    static let length = 16
    private static let prefix = "md5-"

    /// That of the content, 16 bytes.
    let md5: [UInt8]
    /// That of the gzip that the content is stored as, 16 bytes; `nil` where it is stored as it is.
    let encodedMD5: [UInt8]?

    init(md5: [UInt8], encodedMD5: [UInt8]?) {
        self.md5 = md5
        self.encodedMD5 = encodedMD5
    }

    /// Those of a blob that was just stored, where they were computed.
    init?(_ installed: InstalledBlob) {
        guard let md5 = installed.md5 else { return nil }
        self.init(md5: md5, encodedMD5: installed.storedMD5)
    }

    /// Those of a blob that is there. Reads all of it.
    init(_ reader: BlobFileReader) throws(BlobError) {
        self.init(md5: try reader.md5(), encodedMD5: try reader.storedMD5())
    }

    /// The text for an MD5: `md5-` and base64.
    static func text(_ md5: [UInt8]) -> String { prefix + Base64.encode(md5) }

    /// The MD5 that `text` stands for; `nil` when it stands for none.
    static func read(_ text: String) -> [UInt8]? {
        guard text.hasPrefix(prefix) else { return nil }
        let bytes = Base64.decode(text.utf8.dropFirst(prefix.utf8.count))
        return bytes?.count == length ? bytes : nil
    }

    /// Whether `md5` is one of the two.
    func contain(_ md5: [UInt8]) -> Bool { md5 == self.md5 || md5 == encodedMD5 }
}

// MARK: - BlobRecord

/// What the catalog says of the blobs of an encrypted database: their keys. The file's encryption protects them as all of
/// its content, so another key for the database needs no rewriting of blobs; and ``KeyVault`` seals them once more.
///
///     version   1 byte     01
///     state     1 byte     01 all blobs are sealed, 02 some may not be yet, 03 the database is being decrypted
///     keys      sealed by the vault, with the two bytes before authenticated along with them; in state 03 32 bytes each,
///               as they are; oldest first
///
/// A database that is not encrypted has this record only while its blobs are being decrypted.
struct BlobRecord {
    enum State: UInt8 {
        case sealed = 1
        /// Some blobs may not be sealed yet.
        case sealing = 2
        /// The keys are to be read without the vault, whose key goes with the file's.
        case unsealing = 3
    }

    private static let version: UInt8 = 1

    var state: State
    private(set) var keys: [SymmetricKey]

    /// A new one, with a random key.
    init(_ state: State) {
        self.state = state
        keys = [.random()]
    }

    var layout: BlobLayout { .sealed(BlobKeys(keys)) }

    /// Adds a random key, which seals the blobs to come. The last that there is room for stays.
    mutating func addKey() {
        if keys.count < BlobKeys.maximumCount { keys.append(.random()) }
    }

    private static func context(_ state: State) -> [UInt8] { [version, state.rawValue] }

    /// - Parameter vault: what seals the keys, in every state but ``State/unsealing``.
    func encoded(_ vault: KeyVault?) throws(DatabaseError) -> [UInt8] {
        let context = Self.context(state)
        if state == .unsealing {
            return unsafe context + SymmetricKey(joining: keys).withUnsafeBytes { unsafe [UInt8]($0) }
        }
        guard let vault else { throw Self.sealedElsewhere }
        return context + vault.seal(keys, context: context)
    }

    init(_ bytes: [UInt8], _ vault: KeyVault?) throws(DatabaseError) {
        guard bytes.count > 2, bytes[0] == Self.version, let state = State(rawValue: bytes[1]) else {
            throw Self.damaged
        }
        self.state = state
        let kept = Array(bytes[2...])
        let joined: SymmetricKey?
        if state == .unsealing {
            joined = SymmetricKey(kept)
        } else {
            guard let vault else { throw Self.sealedElsewhere }
            joined = vault.open(kept, context: Self.context(state))
        }
        guard let joined, joined.byteCount > 0, joined.byteCount % EncryptionKey.byteCount == 0,
            joined.byteCount / EncryptionKey.byteCount <= BlobKeys.maximumCount
        else { throw Self.damaged }
        keys = joined.parts(of: EncryptionKey.byteCount)
    }

    private static let damaged = DatabaseError.damaged("The record of the blobs' keys")
    private static let sealedElsewhere = DatabaseError(
        .damaged, "The blobs' keys are sealed under the key of an encrypted file, which this one is not.")
}
