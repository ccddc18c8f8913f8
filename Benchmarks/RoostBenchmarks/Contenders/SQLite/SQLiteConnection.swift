#if PEER_SQLite
    import CSQLite

    /// A connection, used by one thread at a time.
    @safe final class SQLiteConnection {
        let handle: OpaquePointer
        private var statements: [OpaquePointer] = unsafe []

        enum Synchronous: String {
            /// Commits are synced before they return.
            case full = "FULL"
            case normal = "NORMAL"
        }

        /// What its documentation recommends where there is memory to spare.
        ///
        /// - Parameter cacheSize: what the page cache holds, in bytes; `nil` for what is usual here.
        static func settings(_ synchronous: Synchronous = .full, cacheSize: Int? = nil) -> [String] {
            [
                "PRAGMA journal_mode = WAL", "PRAGMA synchronous = \(synchronous.rawValue)",
                "PRAGMA cache_size = -\((cacheSize ?? 256 << 20) >> 10)", "PRAGMA mmap_size = 2147418112",
            ]
        }

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

        /// Gives a statement its parameter at `place`, from 1 on.
        func bind(_ text: String, at place: Int32 = 1, of statement: OpaquePointer) {
            var text = text
            // A destructor of -1 has SQLite copy the text.
            let isTransient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            text.withUTF8 { utf8 in
                unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                    _ = unsafe sqlite3_bind_text(
                        statement, place, text.baseAddress, Int32(text.count), isTransient)
                }
            }
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
