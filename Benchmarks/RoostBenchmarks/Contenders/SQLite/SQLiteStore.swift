#if PEER_SQLite
    import CSQLite
    import Foundation

    /// SQLite: a table whose rowid is the sequence, so that a scan by sequence reads the table in order, and a
    /// unique index by ID. An update gives the row its new rowid, which removes the old sequence.
    ///
    /// One connection writes, taken in turn by the threads that do, since SQLite has one writer at a time and
    /// waiting in the program is cheaper than its busy handler; every reading thread has a connection.
    final class SQLiteStore: CompactingContender {
        private let path: String
        private let settings: [String]
        /// Taken in turn with a plain lock: Synchronization's Mutex hands over more slowly between four threads.
        private let turn = NSLock()
        private nonisolated(unsafe) let writing: SQLiteWriting

        init(_ request: OpenRequest, synchronous: SQLiteConnection.Synchronous) throws {
            path = request.directory + "/documents.sqlite"
            settings = SQLiteConnection.settings(synchronous, cacheSize: request.cacheSize)
            unsafe writing = try SQLiteWriting(path: path, settings: settings)
        }

        func makeWriter() throws -> any ContenderWriter {
            SQLiteWriter(store: self)
        }

        func makeReader() throws -> any ContenderReader {
            try SQLiteReader(path: path, settings: settings)
        }

        /// Calls `body` with the connection that writes.
        func withWriting(_ body: (SQLiteWriting) throws -> Void) rethrows {
            try turn.withLock { unsafe try body(writing) }
        }

        func settle() throws {
            try withWriting { try $0.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        }

        func compact() throws {
            try withWriting { writing in
                try writing.connection.execute("VACUUM")
                try writing.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }

        func close() throws {
            try withWriting { try $0.connection.close() }
        }
    }

    extension SQLiteStore {
        static let entries = [
            entry("sqlite", .full, .peer, "WAL, synchronous FULL: durable on commit"),
            entry(
                "sqlite-normal", .normal, .relaxed,
                "WAL, synchronous NORMAL: commits may be lost on power failure"),
        ]

        private static func entry(
            _ name: String, _ synchronous: SQLiteConnection.Synchronous, _ kind: ContenderEntry.Kind,
            _ mode: String
        ) -> ContenderEntry {
            ContenderEntry(
                name: name,
                title: unsafe "SQLite \(String(cString: sqlite3_libversion())) \(synchronous.rawValue)",
                kind: kind,
                configuration: """
                    \(mode); 256 MB page cache, memory-mapped reads, prepared statements with static bindings, \
                    rowid = sequence and a unique index by ID, automatic checkpoints as by default; compaction \
                    by VACUUM
                    """,
                rows: Row.ofStores.union(kind == .peer ? [.jsonDocuments, .views, .queries, .texts] : []),
                open: { try SQLiteStore($0, synchronous: synchronous) }, views: { try SQLiteViews($0) },
                documents: { try SQLiteDocuments($0) }, queries: { try SQLiteQueries($0) },
                texts: { try SQLiteTexts($0) })
        }
    }
#endif
