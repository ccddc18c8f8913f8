import Roost
import RoostStorage

extension RoostStore {
    static let entries = [
        ContenderEntry(
            name: "roost", title: "Roost", kind: .roost,
            configuration:
                "defaults (durable: one sync a commit), 128 MiB of node cache, values read from a mapping",
            rows: Row.ofStores.union(Row.ofCrypto).union(Row.ofBlobs).union([.property, .viewUpkeep]),
            open: { try RoostStore($0) },
            primitives: { RoostPrimitives() },
            blobs: { try RoostBlob($0, key: nil) }),
        ContenderEntry(
            name: "roost-calls", title: "Roost, by calls", kind: .roost,
            configuration: "as Roost, but values read by pread (StoreOptions.valueAccess)",
            rows: [.randomReads, .scans, .scansAfterRandomLoad, .ranges, .readsBesideWriter],
            open: { try RoostStore($0) { $0.valueAccess = .calls } }),
        ContenderEntry(
            name: "roost-encrypted", title: "Roost, encrypted", kind: .roost,
            configuration: "as Roost, with the AES-256-GCM of an encrypted database and a raw key",
            rows: variantRows.union(Row.ofBlobs),
            open: { try RoostStore($0) { $0.transform = KeyRing(key) } },
            blobs: { try RoostBlob($0, key: key) }, original: "roost"),
        ContenderEntry(
            name: "roost-compressed", title: "Roost, compressed", kind: .roost,
            configuration:
                "as Roost, with zlib at level 1: random bytes, so this is what trying in vain costs",
            rows: variantRows,
            open: { try RoostStore($0) { $0.compression = 1 } }, original: "roost"),
    ]

    private static let variantRows: Set<Row> = [
        .orderedLoad, .randomLoad, .updates, .singleCommits, .randomReads, .scans, .compaction, .opening,
    ]

    /// The same in every process of a run, as each opens what another one made.
    private static let key: EncryptionKey = {
        guard let key = try? EncryptionKey(bytes: Array(0..<32)) else { preconditionFailure() }
        return key
    }()
}
