#if PEER_SQLite
    import CSQLite

    /// The connection that writes, its statements and the last sequence taken.
    @safe final class SQLiteWriting {
        let connection: SQLiteConnection
        private let begin: OpaquePointer
        private let commit: OpaquePointer
        private let insert: OpaquePointer
        private let update: OpaquePointer
        private var lastSequence: Int64

        init(path: String, settings: [String]) throws {
            connection = try SQLiteConnection(
                path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, settings: settings)
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS documents (
                    sequence INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, value BLOB NOT NULL)
                """)
            unsafe begin = unsafe try connection.prepare("BEGIN IMMEDIATE")
            unsafe commit = unsafe try connection.prepare("COMMIT")
            unsafe insert = unsafe try connection.prepare(
                "INSERT INTO documents (sequence, value, id) VALUES (?1, ?2, ?3)")
            unsafe update = unsafe try connection.prepare(
                "UPDATE documents SET sequence = ?1, value = ?2 WHERE id = ?3")
            let last = unsafe try connection.prepare("SELECT max(sequence) FROM documents")
            guard unsafe sqlite3_step(last) == SQLITE_ROW else { throw connection.error("max(sequence)") }
            lastSequence = unsafe sqlite3_column_int64(last, 0)
            unsafe sqlite3_reset(last)
        }

        /// A batch of one is a transaction by itself.
        func commit(_ batch: Batch, _ kind: CommitKind) throws {
            let statement = unsafe kind == .update ? update : insert
            if batch.count > 1 { unsafe try connection.run(begin) }
            for index in 0..<batch.count {
                lastSequence += 1
                unsafe sqlite3_bind_int64(statement, 1, lastSequence)
                unsafe sqlite3_bind_blob(statement, 2, batch.value(index), Int32(batch.valueSize), nil)
                unsafe sqlite3_bind_blob(statement, 3, batch.id(index), Int32(DocumentID.size), nil)
                unsafe try connection.run(statement)
            }
            if batch.count > 1 { unsafe try connection.run(commit) }
        }
    }

    /// Takes its turn on the connection that writes.
    final class SQLiteWriter: ContenderWriter {
        private let store: SQLiteStore

        init(store: SQLiteStore) {
            self.store = store
        }

        func commit(_ batch: Batch, _ kind: CommitKind) throws {
            try store.withWriting { try $0.commit(batch, kind) }
        }
    }
#endif
