import RoostCrypto
import RoostFile
import RoostSimulation

@testable import RoostBlobs

/// Files of a blob store.
extension FuzzTarget {
    static let blobs = [blobFile]

    private static let content = (0..<9_000).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0 >> 8) }
    private static let digest = unsafe content.withUnsafeBytes { unsafe BlobDigest(of: $0) }
    private static let key = SymmetricKey(Array(0..<32))

    /// What the first byte of an input stands for; the others are the file.
    private static let forms: [(layout: BlobLayout, encoding: BlobEncoding)] = [
        (.plain, .identity), (.plain, .gzip), (.sealed(BlobKeys([key])), .identity),
        (.sealed(BlobKeys([key])), .gzip), (.couchbaseLite(CompatibleKey(key)), .identity),
        (.couchbaseLite(CompatibleKey(key, mixesNonce: true)), .identity),
    ]

    /// A blob's file is read in every way, and whatever it holds is the blob or an error.
    private static let blobFile = FuzzTarget("blob-file", corpus: "blob", largestInput: 12_288) {
        try forms.enumerated().map { number, form in
            let disk = SimulatedMedium()
            let store = BlobStore("blobs", form.layout, environment: StoreSeeds.environment(disk))
            var options = BlobWriteOptions()
            options.compresses = form.encoding == .gzip
            let writer = try BlobFileWriter(store, options)
            try writer.write(content)
            _ = try writer.install()
            let path = store.path(form.layout.name(of: digest, form.encoding))
            return [UInt8(number)] + (disk.contents(of: path) ?? [])
        }
    } run: { input in
        guard let first = input.first else { return }
        let form = forms[Int(first) % forms.count]
        let disk = SimulatedMedium()
        let store = BlobStore("blobs", form.layout, environment: StoreSeeds.environment(disk))
        try disk.createDirectory("blobs")
        let path = store.path(form.layout.name(of: digest, form.encoding))
        try disk.install(Array(input.dropFirst()), at: path)
        do {
            guard let reader = try store.open(digest) else { return }
            try skip(through: reader, isAuthenticated: reader.isAuthenticated)
            try demand(try reader.readAll() == content, "a blob that is another one")
            try reader.verify()
        } catch is BlobError {}
        _ = try? store.verify()
    }

    /// Reads here and there, as whoever wants a part of a blob does.
    private static func skip(through reader: BlobFileReader, isAuthenticated: Bool) throws {
        var bytes = [UInt8](repeating: 0, count: 100)
        for position in [0, 4_000, 4_095, 8_950, 8_999, 9_000, reader.length &- 1, reader.length, .max] {
            reader.position = position
            let count = unsafe try? bytes.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
            guard let count, isAuthenticated else { continue }
            let expected = content.dropFirst(Int(clamping: position)).prefix(100)
            try demand(bytes.prefix(count).elementsEqual(expected), "a part of a blob that is another one")
        }
    }
}
