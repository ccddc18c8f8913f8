#if PEER_SQLite
    import CSQLite
    import Foundation

    /// SQLite: a table of JSON text with an index on two expressions of `json_extract`, kept up by every commit.
    @safe final class SQLiteViews: ViewContender {
        private let connection: SQLiteConnection
        private let insert: OpaquePointer
        private let path: String
        private var bytesBefore = 0

        init(_ directory: String) throws {
            path = directory
            connection = try SQLiteConnection(
                path: directory + "/notes.sqlite", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                settings: SQLiteConnection.settings() + [
                    "CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID"
                ])
            unsafe insert = unsafe try connection.prepare("INSERT OR REPLACE INTO notes VALUES (?1, ?2)")
        }

        func save(_ notes: some Collection<Note>) throws {
            var rest = notes[...]
            while !rest.isEmpty {
                try connection.execute("BEGIN IMMEDIATE")
                for note in rest.prefix(1_000) { try commit(note) }
                try connection.execute("COMMIT")
                rest = rest.dropFirst(1_000)
            }
        }

        func commit(_ note: Note) throws {
            unsafe connection.bind(note.id, of: insert)
            unsafe connection.bind(note.json, at: 2, of: insert)
            unsafe try connection.run(insert)
        }

        func build() throws {
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            bytesBefore = FileTree.size(of: path)
            try connection.execute(
                """
                CREATE INDEX by_group ON notes (json_extract(body, '$.group'), json_extract(body, '$.n'))
                """)
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }

        func catchUp() throws {}

        private func integers(_ sql: String) throws -> [Int] {
            let statement = unsafe try connection.prepare(sql)
            defer { unsafe sqlite3_reset(statement) }
            var rows: [Int] = []
            while unsafe sqlite3_step(statement) == SQLITE_ROW {
                rows.append(Int(unsafe sqlite3_column_int64(statement, 0)))
            }
            return rows
        }

        func count(group: String, _ range: Range<Int>) throws -> Int {
            try integers(
                """
                SELECT count(*) FROM notes WHERE json_extract(body, '$.group') = '\(group)'
                AND json_extract(body, '$.n') >= \(range.lowerBound) AND json_extract(body, '$.n') < \(range.upperBound)
                """
            ).first ?? 0
        }

        func entries(group: String, from n: Int, limit: Int) throws -> Int {
            try integers(
                """
                SELECT json_extract(body, '$.n') FROM notes
                WHERE (json_extract(body, '$.group'), json_extract(body, '$.n')) >= ('\(group)', \(n))
                ORDER BY json_extract(body, '$.group'), json_extract(body, '$.n') LIMIT \(limit)
                """
            ).count
        }

        func groups() throws -> [Int] {
            try integers(
                """
                SELECT sum(json_extract(body, '$.n')) FROM notes GROUP BY json_extract(body, '$.group')
                ORDER BY json_extract(body, '$.group')
                """)
        }

        func size() throws -> Int { FileTree.size(of: path) - bytesBefore }

        func close() throws { try connection.close() }
    }
#endif
