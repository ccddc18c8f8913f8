extension RawStore {
    static let entries = [
        ContenderEntry(
            name: "raw", title: "raw limit", kind: .raw,
            configuration:
                "one pwrite and one fdatasync per commit; pread of a known place; no index at all; for blobs a plain "
                + "copy of the file with its SHA-1",
            rows: Row.ofStores.subtracting([.compactionBesideWriter]).union(Row.ofBlobs),
            open: { try RawStore($0, reading: .pread, zeroesAhead: false) },
            blobs: { RawBlob($0) }),
        ContenderEntry(
            name: "raw-mapped", title: "raw limit, mapped", kind: .raw,
            configuration: "the same file read through a mapping",
            rows: [.randomReads, .scans, .scansAfterRandomLoad, .ranges, .readsBesideWriter],
            open: { try RawStore($0, reading: .mapping, zeroesAhead: false) }),
        ContenderEntry(
            name: "raw-zeroed", title: "raw limit, zeroed ahead", kind: .raw,
            configuration: "commits overwrite blocks into which zeros were written and synced in advance",
            rows: [.singleCommits, .parallelCommits],
            open: { try RawStore($0, reading: .pread, zeroesAhead: true) }),
    ]
}
