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
    func open(in store: BlobStore) throws(BlobError) -> BlobFileReader? {
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
        case .plain: return try openPlain(file, size, path)
        case .sealed(let keys):
            let source = try SealedSource(file, size: size, keys)
            // A file under a name that is not its own.
            guard keys.name(of: source.facts.digest) == name else {
                throw BlobError.damaged(path, "it holds another blob than its name says")
            }
            return try BlobFileReader(
                source.facts.digest, source.facts.encoding, stored: source,
                contentLength: source.facts.contentLength, path: path, isAuthenticated: true)
        case .couchbaseLite(let key):
            guard let digest = BlobName.read(name)?.digest else { return nil }
            return try BlobFileReader(
                digest, .identity, stored: CompatibleSource(file, size: size, key), contentLength: nil,
                path: path,
                isAuthenticated: false)
        }
    }

    private func openPlain(_ file: any File, _ size: UInt64, _ path: String) throws(BlobError)
        -> BlobFileReader?
    {
        guard let (digest, encoding) = BlobName.read(name) else { return nil }
        return try BlobFileReader(
            digest, encoding, stored: PlainSource(file, length: size), contentLength: nil, path: path,
            isAuthenticated: false)
    }
}
