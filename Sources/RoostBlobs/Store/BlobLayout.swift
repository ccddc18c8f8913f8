import RoostBytes
import RoostCrypto
import RoostFile

/// In which form a store keeps its blobs.
package enum BlobLayout: Sendable {
    /// A file holds the content and nothing else, or the content as gzip, and is named by the digest.
    case plain
    /// Files are encrypted and authenticated, and their names are a keyed hash: see ``SealedHeader``.
    case sealed(BlobKeys)
    /// The encrypted files of Couchbase Lite, for interchange with it: see ``CompatibleBlocks``. Nothing in them is
    /// authenticated.
    case couchbaseLite(CompatibleKey)

    /// The names that a blob's file can have, the one for content without encoding first.
    func names(of digest: BlobDigest) -> [String] {
        switch self {
        case .plain: [BlobName.plain(digest, .identity), BlobName.plain(digest, .gzip)]
        case .sealed(let keys): [keys.name(of: digest)]
        case .couchbaseLite: [BlobName.plain(digest, .identity)]
        }
    }

    /// The name of a new blob's file.
    func name(of digest: BlobDigest, _ encoding: BlobEncoding) -> String {
        switch self {
        case .plain: BlobName.plain(digest, encoding)
        case .sealed(let keys): keys.name(of: digest)
        case .couchbaseLite: BlobName.plain(digest, .identity)
        }
    }

    /// Whether a file of this name can be a blob of this layout.
    func owns(_ name: String) -> Bool {
        switch self {
        case .plain: BlobName.read(name) != nil
        case .sealed: BlobName.isSealed(name)
        case .couchbaseLite: BlobName.read(name)?.encoding == .identity
        }
    }

    /// Whether both write files of the same form, if under other keys.
    func isSameKind(as other: Self) -> Bool {
        switch (self, other) {
        case (.plain, .plain), (.sealed, .sealed), (.couchbaseLite, .couchbaseLite): true
        default: false
        }
    }

    /// Whether what is read of a file is known to be what was written, without its digest.
    var isAuthenticated: Bool { if case .sealed = self { true } else { false } }

    /// Whether content can be stored as gzip.
    var allowsEncoding: Bool { if case .couchbaseLite = self { false } else { true } }
}

/// How the bytes of a blob are stored.
package enum BlobEncoding: UInt8, Sendable {
    /// As they are.
    case identity = 0
    /// As one gzip member (RFC 1952).
    case gzip = 1
}

/// The names of blob files.
enum BlobName {
    private static let sealedSuffix = ".sealed"
    private static let sealedDigits = 40

    /// The digest in base64 with `/` as `_`, as Couchbase Lite names its files, and `.blob` or, for gzip, `.gz`.
    static func plain(_ digest: BlobDigest, _ encoding: BlobEncoding) -> String {
        let stem = Base64.encode(digest.bytes).utf8.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
        return String(decoding: stem, as: UTF8.self) + suffix(encoding)
    }

    private static func suffix(_ encoding: BlobEncoding) -> String { encoding == .gzip ? ".gz" : ".blob" }

    /// What a name made by ``plain(_:_:)`` says.
    static func read(_ name: String) -> (digest: BlobDigest, encoding: BlobEncoding)? {
        for encoding in [BlobEncoding.identity, .gzip] where name.hasSuffix(suffix(encoding)) {
            let stem = name.utf8.dropLast(suffix(encoding).utf8.count)
                .map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0 }
            guard let bytes = Base64.decode(stem) else { return nil }
            for algorithm in BlobDigest.Algorithm.allCases {
                if let digest = BlobDigest(algorithm, bytes), plain(digest, encoding) == name {
                    return (digest, encoding)
                }
            }
        }
        return nil
    }

    /// The name for a keyed hash.
    static func sealed(_ hash: Digest) -> String { hash.description.prefix(sealedDigits) + sealedSuffix }

    private static let temporaryByteCount = 12

    /// A random name for a file that is being written: 24 hexadecimal digits.
    static func temporary(_ randomness: any Randomness) -> String {
        var bytes = [UInt8](repeating: 0, count: temporaryByteCount)
        unsafe bytes.withUnsafeMutableBytes { unsafe randomness.fill($0) }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func isTemporary(_ name: String) -> Bool {
        name.utf8.count == 2 * temporaryByteCount && isHexadecimal(name.utf8[...])
    }

    private static func isHexadecimal(_ text: Substring.UTF8View) -> Bool {
        text.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    static func isSealed(_ name: String) -> Bool {
        guard name.hasSuffix(sealedSuffix) else { return false }
        let stem = name.utf8.dropLast(sealedSuffix.utf8.count)
        return stem.count == sealedDigits && isHexadecimal(stem)
    }
}
