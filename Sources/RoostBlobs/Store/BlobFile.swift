import RoostBytes
import RoostFile

/// The file of a blob in a store's directory.
package struct BlobFile: Hashable, Sendable {
    /// Its name in the directory.
    package let name: String
    let layout: BlobLayout

    package static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Opens the file; `nil` when it has gone.
    ///
    /// - Throws: `damaged`, also for content that was damaged already when it was encrypted.
    func open(in store: BlobStore) throws(BlobError) -> BlobFileReader? {
        guard let stored = try openStored(in: store) else { return nil }
        guard !stored.isDamaged else {
            throw BlobError.damaged(stored.path, "its content was damaged already when it was encrypted")
        }
        return try BlobFileReader(stored)
    }

    /// Whether the file of this name in `store` is there and holds what it says, as far as its header can tell, where it has
    /// one; or wholly.
    func isReadable(in store: BlobStore, wholly: Bool) throws(BlobError) -> Bool {
        if !wholly, !layout.isAuthenticated { return true }
        do throws(BlobError) {
            guard let reader = try open(in: store) else { return false }
            return wholly ? try reader.isWhole() : true
        } catch {
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
            return false
        }
    }

    /// Opens the file for what is stored there, whatever it is; `nil` when it has gone.
    func openStored(in store: BlobStore) throws(BlobError) -> StoredBlob? {
        let path = store.path(name)
        let (file, size): (any File, UInt64)
        do throws(FileError) {
            file = try store.medium.open(path, .readOnly)
            size = try file.size()
        } catch {
            if error.code == .notFound { return nil }
            throw BlobError(error)
        }
        switch layout {
        case .plain:
            guard let (digest, encoding) = BlobName.read(name) else { return nil }
            return StoredBlob(digest, encoding, PlainSource(file, length: size), path: path)
        case .sealed(let keys):
            let source = try SealedSource(file, size: size, keys)
            // A file under a name that is not its own.
            guard keys.name(of: source.facts.digest) == name else {
                throw BlobError.damaged(path, "it holds another blob than its name says")
            }
            return StoredBlob(source.facts, source, path: path)
        case .couchbaseLite(let key):
            guard let digest = BlobName.read(name)?.digest else { return nil }
            return StoredBlob(
                digest, .identity, try CompatibleSource(file, size: size, key), path: path)
        }
    }
}

/// What the file of a blob stores, before it is decompressed.
struct StoredBlob {
    let digest: BlobDigest
    let encoding: BlobEncoding
    let source: any ByteSource
    /// The length of the content, where the file says it.
    let contentLength: UInt64?
    let path: String
    /// Whether what is read was authenticated; otherwise only the digest can tell.
    let isAuthenticated: Bool
    /// Whether the content is known not to be what the digest says.
    let isDamaged: Bool

    /// A file in which nothing is authenticated.
    init(_ digest: BlobDigest, _ encoding: BlobEncoding, _ source: any ByteSource, path: String) {
        self.digest = digest
        self.encoding = encoding
        self.source = source
        self.path = path
        contentLength = nil
        isAuthenticated = false
        isDamaged = false
    }

    /// A sealed file.
    init(_ facts: SealedFacts, _ source: any ByteSource, path: String) {
        digest = facts.digest
        encoding = facts.encoding
        self.source = source
        self.path = path
        contentLength = facts.contentLength
        isAuthenticated = true
        isDamaged = facts.isDamaged
    }
}
