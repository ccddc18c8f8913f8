#if PEER_SQLite
    import CSQLite

    /// SQLite with documents as JSON text, `json_extract`, and indexes on it, as its documentation recommends.
    @safe final class SQLiteQueries: QueryContender {
        private let connection: SQLiteConnection
        private var statements: [Question: OpaquePointer] = unsafe [:]
        private var count = 0

        init(_ directory: String) throws {
            connection = try SQLiteConnection(
                path: directory + "/queries.sqlite", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                settings: SQLiteConnection.settings(.normal) + [
                    "CREATE TABLE IF NOT EXISTS docs(id TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID"
                ])
        }

        func insert(_ batch: [(id: String, json: String)]) throws {
            try connection.execute("BEGIN")
            let statement = unsafe try connection.prepare("INSERT INTO docs VALUES(?, ?)")
            for document in batch {
                unsafe connection.bind(document.id, of: statement)
                unsafe connection.bind(document.json, at: 2, of: statement)
                unsafe try connection.run(statement)
            }
            try connection.execute("COMMIT")
            count += batch.count
        }

        func makeIndexes() throws {
            for columns in [
                "json_extract(body, '$.title')",
                "json_extract(body, '$.day'), json_extract(body, '$.amount')",
                "json_extract(body, '$.city')",
            ] {
                let name = columns.filter(\.isLetter)
                try connection.execute("CREATE INDEX IF NOT EXISTS \(name) ON docs(\(columns))")
            }
            try connection.execute("ANALYZE")
        }

        func ask(_ question: Question) throws -> Answer {
            if unsafe statements[question] == nil {
                unsafe statements[question] = try connection.prepare(text(question))
            }
            guard let statement = unsafe statements[question] else { return Answer() }
            defer { unsafe sqlite3_reset(statement) }
            var answer = Answer()
            while unsafe sqlite3_step(statement) == SQLITE_ROW {
                answer.rows += 1
                for column in 1..<max(1, unsafe sqlite3_column_count(statement)) {
                    _ = unsafe sqlite3_column_bytes(statement, column)
                }
                answer.last = unsafe sqlite3_column_double(statement, 0)
            }
            return answer
        }

        func close() throws {
            unsafe statements = unsafe [:]
            try connection.close()
        }

        private func text(_ question: Question) -> String {
            func value(_ name: String) -> String { "json_extract(body, '$.\(name)')" }
            let (day, amount, title) = (value("day"), value("amount"), value("title"))
            return switch question {
            case .scan: "SELECT count(*) FROM docs WHERE \(amount) > 500"
            case .group: "SELECT \(value("city")), avg(\(amount)) FROM docs GROUP BY 1"
            case .any:
                "SELECT count(*) FROM docs WHERE EXISTS (SELECT 1 FROM json_each(body, '$.tags') WHERE value = 'tag 7')"
            case .top: "SELECT \(amount), \(title) FROM docs ORDER BY 1 DESC, 2 LIMIT 10"
            case .one:
                "SELECT \(day), \(title), \(value("text")) FROM docs WHERE \(title) = 'title \(Question.middle(of: count))'"
            case .range: "SELECT \(amount), \(title), \(value("text")) FROM docs WHERE \(day) = 40 LIMIT 100"
            case .covering: "SELECT \(day), \(amount) FROM docs WHERE \(day) >= 40 AND \(day) < 60"
            case .offset:
                "SELECT \(day), \(amount) FROM docs ORDER BY \(day) LIMIT 10 OFFSET \(Question.middle(of: count))"
            case .count: "SELECT count(*) FROM docs WHERE \(day) >= 20 AND \(day) < 80"
            case .sum: "SELECT sum(\(amount)) FROM docs WHERE \(day) >= 20 AND \(day) < 80"
            case .groups: "SELECT \(value("city")), count(*) FROM docs GROUP BY 1 ORDER BY 1"
            }
        }
    }
#endif
