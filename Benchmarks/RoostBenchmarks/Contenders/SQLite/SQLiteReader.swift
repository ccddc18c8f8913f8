#if PEER_SQLite
    import CSQLite

    /// A read-only connection with prepared statements; each call is a read transaction of its own.
    @safe final class SQLiteReader: ContenderReader {
        private let connection: SQLiteConnection
        private let one: OpaquePointer
        private let byID: OpaquePointer
        private let bySequence: OpaquePointer
        private let range: OpaquePointer
        private let begin: OpaquePointer
        private let probe: OpaquePointer
        private let commit: OpaquePointer

        init(path: String, settings: [String]) throws {
            connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READONLY, settings: settings)
            unsafe one = unsafe try connection.prepare("SELECT value FROM documents WHERE id = ?1")
            unsafe byID = unsafe try connection.prepare("SELECT id, value FROM documents ORDER BY id")
            unsafe bySequence = unsafe try connection.prepare(
                "SELECT id, value FROM documents ORDER BY sequence")
            unsafe range = unsafe try connection.prepare(
                "SELECT id, value FROM documents WHERE id >= ?1 ORDER BY id LIMIT ?2")
            unsafe begin = unsafe try connection.prepare("BEGIN")
            unsafe probe = unsafe try connection.prepare("PRAGMA data_version")
            unsafe commit = unsafe try connection.prepare("COMMIT")
        }

        deinit {
            try? connection.close()
        }

        /// A transaction begins with its first look at the file.
        func takeSnapshot() throws {
            unsafe try connection.run(begin)
            guard unsafe sqlite3_step(probe) == SQLITE_ROW else { throw connection.error("snapshot") }
            unsafe sqlite3_reset(probe)
            unsafe try connection.run(commit)
        }

        func read(_ key: DocumentKey, into sink: inout Sink) throws {
            unsafe try withBound(one, key) {
                guard unsafe sqlite3_step(one) == SQLITE_ROW else { throw connection.error("read") }
                unsafe sink.accept(sqlite3_column_blob(one, 0), Int(sqlite3_column_bytes(one, 0)))
                unsafe sqlite3_reset(one)
            }
        }

        func scanByID(into sink: inout Sink) throws {
            unsafe try deliver(byID, into: &sink)
        }

        func scanBySequence(into sink: inout Sink) throws {
            unsafe try deliver(bySequence, into: &sink)
        }

        func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws {
            unsafe try withBound(range, key) {
                unsafe sqlite3_bind_int64(range, 2, Int64(count))
                unsafe try deliver(range, into: &sink)
            }
        }

        private func deliver(_ statement: OpaquePointer, into sink: inout Sink) throws {
            var code = unsafe sqlite3_step(statement)
            while code == SQLITE_ROW {
                unsafe sink.accept(
                    id: sqlite3_column_blob(statement, 0), sqlite3_column_blob(statement, 1),
                    Int(sqlite3_column_bytes(statement, 1)))
                code = unsafe sqlite3_step(statement)
            }
            unsafe sqlite3_reset(statement)
            guard code == SQLITE_DONE else { throw connection.error("scan") }
        }

        @inline(__always)
        private func withBound(_ statement: OpaquePointer, _ key: DocumentKey, _ body: () throws -> Void)
            throws
        {
            unsafe try withUnsafeBytes(of: key.id) { id in
                unsafe sqlite3_bind_blob(statement, 1, id.baseAddress, Int32(id.count), nil)
                try body()
            }
        }
    }
#endif
