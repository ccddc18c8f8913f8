import RoostBlobs
import RoostBytes

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
