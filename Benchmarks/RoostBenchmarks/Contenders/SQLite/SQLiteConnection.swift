#if PEER_SQLite
    import CSQLite

    /// A connection, used by one thread at a time.
    @safe final class SQLiteConnection {
        let handle: OpaquePointer
        private var statements: [OpaquePointer] = unsafe []

        /// `settings` are run on opening.
        init(path: String, flags: Int32, settings: [String]) throws {
            var opened: OpaquePointer?
            let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
            guard code == SQLITE_OK, let opened = unsafe opened else {
                throw BenchmarkError("SQLite: cannot open the database (\(code))")
            }
            unsafe handle = unsafe opened
            for setting in settings { try execute(setting) }
        }

        func execute(_ sql: String) throws {
            guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
        }

        /// A statement that lives as long as the connection.
        func prepare(_ sql: String) throws -> OpaquePointer {
            var statement: OpaquePointer?
            let code = unsafe sqlite3_prepare_v3(
                handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            guard code == SQLITE_OK, let statement = unsafe statement else { throw error(sql) }
            unsafe statements.append(statement)
            return unsafe statement
        }

        /// Runs a statement that returns no rows, and makes it ready for the next time.
        @inline(__always)
        func run(_ statement: OpaquePointer) throws {
            let code = unsafe sqlite3_step(statement)
            unsafe sqlite3_reset(statement)
            guard code == SQLITE_DONE else { throw error("step") }
        }

        func close() throws {
            unsafe statements.forEach { unsafe sqlite3_finalize($0) }
            unsafe statements = unsafe []
            guard unsafe sqlite3_close(handle) == SQLITE_OK else { throw error("close") }
        }

        func error(_ what: String) -> BenchmarkError {
            BenchmarkError(unsafe "SQLite: \(what): \(String(cString: sqlite3_errmsg(handle)))")
        }
    }
#endif
