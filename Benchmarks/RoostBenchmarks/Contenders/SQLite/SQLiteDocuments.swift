#if PEER_SQLite
    import CSQLite
    import Foundation

    /// SQLite: JSON texts in a column, and Codable values in a table with a column for each property, those that are no
    /// scalars as JSON, which is how GRDB stores records.
    @safe final class SQLiteDocuments: DocumentContender {
        private let connection: SQLiteConnection
        private let inserts: [NoteTable: OpaquePointer]
        private let replace: OpaquePointer
        private let select: OpaquePointer
        private let summaries: OpaquePointer
        private let scan: OpaquePointer
        private let encoder = JSONEncoder()
        private let decoder = JSONDecoder()

        init(_ directory: String) throws {
            connection = try SQLiteConnection(
                path: directory + "/documents.sqlite", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                settings: SQLiteConnection.settings() + [
                    "CREATE TABLE texts (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
                    "CREATE TABLE shuffled (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
                    """
                    CREATE TABLE records (id TEXT PRIMARY KEY, "group" TEXT, n INTEGER, tags TEXT, stars INTEGER,
                    place TEXT, done BOOLEAN, text TEXT) WITHOUT ROWID
                    """,
                ])
            var inserts: [NoteTable: OpaquePointer] = unsafe [:]
            unsafe inserts[.texts] = try connection.prepare("INSERT INTO texts VALUES (?1, ?2)")
            unsafe inserts[.shuffled] = try connection.prepare("INSERT INTO shuffled VALUES (?1, ?2)")
            unsafe inserts[.records] = try connection.prepare(
                "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
            unsafe self.inserts = unsafe inserts
            unsafe replace = try connection.prepare("UPDATE texts SET body = ?2 WHERE id = ?1")
            unsafe select = try connection.prepare("SELECT * FROM records WHERE id = ?1")
            unsafe summaries = try connection.prepare("SELECT id, \"group\", n FROM records WHERE id = ?1")
            unsafe scan = try connection.prepare("SELECT json_extract(body, '$.n') FROM texts ORDER BY id")
        }

        func insert(_ notes: ArraySlice<Note>, into table: NoteTable) throws {
            unsafe try write(notes, inserts[table]!)
        }

        func update(_ notes: ArraySlice<Note>) throws { unsafe try write(notes, replace) }

        private func write(_ notes: ArraySlice<Note>, _ statement: OpaquePointer) throws {
            try connection.execute("BEGIN IMMEDIATE")
            for index in notes.indices {
                unsafe connection.bind(notes[index].id, at: 1, of: statement)
                unsafe connection.bind(notes[index].json, at: 2, of: statement)
                unsafe try connection.run(statement)
            }
            try connection.execute("COMMIT")
        }

        func insert(_ records: ArraySlice<NoteRecord>) throws {
            let statement = unsafe inserts[.records]!
            try connection.execute("BEGIN IMMEDIATE")
            for record in records {
                unsafe connection.bind(record.id, at: 1, of: statement)
                unsafe connection.bind(record.group, at: 2, of: statement)
                unsafe sqlite3_bind_int64(statement, 3, Int64(record.n))
                unsafe connection.bind(
                    String(decoding: try encoder.encode(record.tags), as: UTF8.self), at: 4, of: statement)
                unsafe sqlite3_bind_int64(statement, 5, Int64(record.stars))
                unsafe connection.bind(
                    String(decoding: try encoder.encode(record.place), as: UTF8.self), at: 6, of: statement)
                unsafe sqlite3_bind_int64(statement, 7, record.done ? 1 : 0)
                unsafe connection.bind(record.text, at: 8, of: statement)
                unsafe try connection.run(statement)
            }
            try connection.execute("COMMIT")
        }

        func record(_ id: String) throws -> NoteRecord? {
            defer { unsafe sqlite3_reset(select) }
            unsafe connection.bind(id, at: 1, of: select)
            guard unsafe sqlite3_step(select) == SQLITE_ROW else { return nil }
            return NoteRecord(
                id: unsafe text(0, of: select), group: unsafe text(1, of: select),
                n: Int(unsafe sqlite3_column_int64(select, 2)),
                tags: try decoder.decode([String].self, from: Data(unsafe text(3, of: select).utf8)),
                stars: Int(unsafe sqlite3_column_int64(select, 4)),
                place: try decoder.decode(NoteRecord.Place.self, from: Data(unsafe text(5, of: select).utf8)),
                done: unsafe sqlite3_column_int64(select, 6) != 0, text: unsafe text(7, of: select))
        }

        func summary(_ id: String) throws -> NoteSummary? {
            defer { unsafe sqlite3_reset(summaries) }
            unsafe connection.bind(id, at: 1, of: summaries)
            guard unsafe sqlite3_step(summaries) == SQLITE_ROW else { return nil }
            return NoteSummary(
                id: unsafe text(0, of: summaries), group: unsafe text(1, of: summaries),
                n: Int(unsafe sqlite3_column_int64(summaries, 2)))
        }

        private func text(_ column: Int32, of statement: OpaquePointer) -> String {
            unsafe String(cString: sqlite3_column_text(statement, column))
        }

        func sum() throws -> Int {
            defer { unsafe sqlite3_reset(scan) }
            var sum = 0
            while unsafe sqlite3_step(scan) == SQLITE_ROW {
                sum += Int(unsafe sqlite3_column_int64(scan, 0))
            }
            return sum
        }

        func close() throws { try connection.close() }
    }
#endif
