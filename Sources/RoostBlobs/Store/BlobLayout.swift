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

// MARK: - BlobMirror

/// Makes another directory hold the same blobs as a store, in two halves, so that what names the blobs can be copied
/// between them: after ``copyMissing(_:)`` the other directory holds the blobs of before and those of now, and after
/// ``removeOthers()`` only those of now.
///
/// Files are copied byte by byte. Files of one name have one content, though not always in one form: it may have been removed
/// and stored again, compressed, or under another key. What names the blobs of before may not have that key yet. So a file
/// that the other directory has, and that can be read with the keys of this one, stays as it is; its content is looked at only
/// where its size is another than here. A crash leaves whole files; doing it again ends the work. Nobody else may write to the
/// other directory meanwhile, nor may blobs be converted here.
package struct BlobMirror {
    private let source: BlobStore
    private let target: BlobStore
    private let wanted: Set<String>
    private let missing: [String]
    /// The size of all blobs' files, in bytes.
    package let bytes: UInt64
    /// The size of those that are to be copied, in bytes.
    package let missingBytes: UInt64

    /// Looks at what is here and there. O(number of blobs).
    ///
    /// - Parameter sparesUnreadable: Whether a file in the other directory that can't be read here may be needed there: under
    ///   keys that only what names its blobs has.
    /// - Throws: `unsupportedFormat` where such a file stands in the way, `inputOutput`, `permissionDenied`.
    package init(
        of source: BlobStore, in target: BlobStore, sparesUnreadable: Bool = false
    ) throws(BlobError) {
        self.source = source
        self.target = target
        var wanted: Set<String> = []
        var missing: [String] = []
        var (bytes, missingBytes): (UInt64, UInt64) = (0, 0)
        for file in try source.files() {
            // One that has gone meanwhile was removed by whoever may do that.
            guard let size = try source.size(of: file.name) else { continue }
            wanted.insert(file.name)
            bytes += size
            guard try !target.hasCopy(of: file, in: source, size, sparesUnreadable: sparesUnreadable) else {
                continue
            }
            missing.append(file.name)
            missingBytes += size
        }
        self.wanted = wanted
        self.missing = missing.sorted()
        self.bytes = bytes
        self.missingBytes = missingBytes
    }

    /// Copies what the other directory lacks; all of it is durable when this returns.
    ///
    /// - Parameter advance: called with the bytes of each piece that was copied; an error from it ends the work.
    /// - Returns: `false` when a file has gone since it was seen: removed, or replaced by one of another name. Look anew then.
    /// - Throws: `noSpace`, `inputOutput`, `permissionDenied`.
    package func copyMissing(_ advance: (UInt64) throws(BlobError) -> Void) throws(BlobError) -> Bool {
        guard !wanted.isEmpty else { return true }
        try target.makeDirectories()
        // What a copy left behind that was killed.
        try target.sweep()
        for name in missing {
            guard try copy(name, advance) else { return false }
        }
        do throws(BlobError) {
            // Also where nothing was missing: whoever copied it may have ended before the names were durable.
            try syncNames()
        } catch {
            // Another sync would not tell of names that this one has lost.
            for name in missing { try? target.medium.remove(target.path(name)) }
            throw error
        }
        return true
    }

    /// Removes the blobs that only the other directory has, in whatever layout they are: a backup of an encrypted database
    /// must not keep what was copied before it was.
    ///
    /// - Throws: `inputOutput`, `permissionDenied`.
    package func removeOthers() throws(BlobError) {
        let others = try target.blobNames().filter { !wanted.contains($0) }
        guard !others.isEmpty else { return }
        try medium { () throws(FileError) in
            for name in others { try target.medium.remove(target.path(name)) }
        }
        try syncNames()
    }

    private func syncNames() throws(BlobError) {
        try medium { () throws(FileError) in try target.medium.syncDirectory(of: target.incoming) }
    }

    /// - Returns: `false` when there is no such file any more.
    private func copy(
        _ name: String, _ advance: (UInt64) throws(BlobError) -> Void
    ) throws(BlobError) -> Bool {
        let original: any File
        do throws(FileError) {
            original = try source.medium.open(source.path(name), .readOnly)
        } catch {
            if error.code == .notFound { return false }
            throw BlobError(error)
        }
        let access = try medium { () throws(FileError) in try original.access() }
        let (file, temporary) = try target.makeTemporary(access)
        do throws(BlobError) {
            let buffer = ByteBuffer(capacity: 256 << 10)
            var offset: UInt64 = 0
            while true {
                let count = try medium { () throws(FileError) in
                    buffer.resize(to: 256 << 10)
                    let count = unsafe try original.readFully(into: buffer.mutableBytes, at: offset)
                    unsafe try file.writeFully(buffer.view.slice(0, count).buffer, at: offset)
                    return count
                }
                guard count > 0 else { break }
                offset += UInt64(count)
                try advance(UInt64(count))
            }
            try medium { () throws(FileError) in
                if !BlobFailpoint.unsyncedCopy.isActive { try file.sync() }
                try target.medium.rename(temporary, to: target.path(name))
            }
        } catch {
            try? target.medium.remove(temporary)
            throw error
        }
        return true
    }
}

extension BlobStore {
    /// The size of a file; `nil` when there is none.
    fileprivate func size(of name: String) throws(BlobError) -> UInt64? {
        guard try exists() else { return nil }
        let status = try RoostBlobs.medium { () throws(FileError) in try medium.status(of: path(name)) }
        return status?.kind == .file ? status?.size : nil
    }

    /// Whether nothing is gained by copying a file of another store here: a file of that name can be read with the other
    /// store's keys, or the other store can't read its own.
    fileprivate func hasCopy(
        of file: BlobFile, in source: BlobStore, _ size: UInt64, sparesUnreadable: Bool
    ) throws(BlobError) -> Bool {
        guard let ownSize = try self.size(of: file.name) else { return false }
        if BlobFailpoint.hastyReplacement.isActive { return ownSize == size }
        guard try !file.isReadable(in: self, wholly: ownSize != size) else { return true }
        guard try file.isReadable(in: source, wholly: true) else { return true }
        guard !sparesUnreadable else {
            throw BlobError(
                .unsupportedFormat,
                "The blob file \(path(file.name)) can't be read with the keys of this database, and stands in the way of "
                    + "one that can. It is damaged, or of a backup of what has another history since. Move that backup "
                    + "away, or choose another place.")
        }
        return false
    }

    /// The names of all files that can be blobs in any layout.
    fileprivate func blobNames() throws(BlobError) -> [String] {
        guard try exists() else { return [] }
        let names = try RoostBlobs.medium { () throws(FileError) in try medium.list(directory) }
        return names.filter { BlobName.read($0) != nil || BlobName.isSealed($0) }
    }
}
