#if PEER_SQLite
    import CSQLite

    /// SQLite with a table of texts, and an FTS5 index of it that keeps no texts of its own, kept up by triggers as its documentation
    /// recommends.
    @safe final class SQLiteTexts: TextContender {
        private let directory: String
        private let connection: SQLiteConnection
        private var statements: [String: OpaquePointer] = unsafe [:]

        init(_ directory: String) throws {
            self.directory = directory
            connection = try SQLiteConnection(
                path: directory + "/texts.sqlite", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                settings: SQLiteConnection.settings() + [
                    "CREATE TABLE IF NOT EXISTS docs(id INTEGER PRIMARY KEY, text TEXT)"
                ])
        }

        func insert(_ texts: ArraySlice<String>, from first: Int) throws {
            try connection.execute("BEGIN")
            for (number, text) in zip(first..., texts) {
                try write("INSERT INTO docs(text, id) VALUES(?, ?)", text, number)
            }
            try connection.execute("COMMIT")
        }

        func makeIndex() throws {
            try connection.execute(
                """
                CREATE VIRTUAL TABLE words USING fts5(text, content = 'docs', content_rowid = 'id');
                INSERT INTO words(words) VALUES('rebuild');
                CREATE TRIGGER changed AFTER UPDATE ON docs BEGIN
                  INSERT INTO words(words, rowid, text) VALUES('delete', old.id, old.text);
                  INSERT INTO words(rowid, text) VALUES (new.id, new.text);
                END;
                """)
        }

        func count(_ query: String) throws -> Int {
            try numbers("SELECT count(*) FROM words WHERE words MATCH ?", query).first ?? 0
        }

        func best(_ limit: Int, _ query: String) throws -> [Int] {
            try numbers(
                "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT \(limit)", query)
        }

        func update(_ number: Int, _ text: String) throws {
            try write("UPDATE docs SET text = ? WHERE id = ?", text, number)
        }

        func size() throws -> Int {
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return FileTree.size(of: directory)
        }

        func close() throws {
            unsafe statements = unsafe [:]
            try connection.close()
        }

        private func statement(_ text: String) throws -> OpaquePointer {
            if let known = unsafe statements[text] { return unsafe known }
            let made = unsafe try connection.prepare(text)
            unsafe statements[text] = made
            return unsafe made
        }

        private func write(_ change: String, _ text: String, _ number: Int) throws {
            let statement = unsafe try statement(change)
            unsafe connection.bind(text, of: statement)
            unsafe sqlite3_bind_int64(statement, 2, Int64(number))
            unsafe try connection.run(statement)
        }

        private func numbers(_ question: String, _ query: String) throws -> [Int] {
            let statement = unsafe try statement(question)
            unsafe connection.bind(query, of: statement)
            defer { unsafe sqlite3_reset(statement) }
            var numbers: [Int] = []
            while unsafe sqlite3_step(statement) == SQLITE_ROW {
                numbers.append(Int(unsafe sqlite3_column_int64(statement, 0)))
            }
            return numbers
        }
    }
#endif
