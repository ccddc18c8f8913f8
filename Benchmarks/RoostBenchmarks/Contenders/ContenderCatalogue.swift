/// Every contender this program was built with.
enum ContenderCatalogue {
    static let all: [ContenderEntry] = {
        var entries = RawStore.entries + RoostStore.entries + [DocumentLayerStore.entry]
        entries += [RoostHTTP.entry, RoostRouter.entry, CouchDBFigures.entry]
        if let nginx = NginxServer.entry { entries.append(nginx) }
        if let openSSL = OpenSSLSpeed.entry { entries.append(openSSL) }
        #if PEER_LMDB
            entries += LMDBStore.entries
        #endif
        #if PEER_SQLite
            entries += SQLiteStore.entries
        #endif
        #if PEER_RocksDB
            entries += RocksStore.entries
        #endif
        return entries
    }()

    /// A line for each peer that is left out.
    static let leftOut: [String] = {
        var lines: [String] = []
        if OpenSSLSpeed.entry == nil { lines.append("OpenSSL is left out: there is no command openssl") }
        if NginxServer.entry == nil { lines.append("nginx is left out: it is not installed (nginx-light)") }
        #if !PEER_LMDB
            lines.append("LMDB is left out: its library was missing (liblmdb-dev); run Benchmarks/run")
        #endif
        #if !PEER_SQLite
            lines.append("SQLite is left out: its library was missing (libsqlite3-dev); run Benchmarks/run")
        #endif
        #if !PEER_RocksDB
            lines.append("RocksDB is left out: its library was missing (librocksdb-dev); run Benchmarks/run")
        #endif
        return lines
    }()

    static func named(_ name: String) throws -> ContenderEntry {
        guard let entry = all.first(where: { $0.name == name }) else {
            throw BenchmarkError(
                "no contender is called \(name); there are \(all.map(\.name).joined(separator: ", "))")
        }
        return entry
    }
}
