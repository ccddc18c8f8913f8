import Foundation
import RoostQuery

/// The texts that `help` prints in the shell.
enum ShellHelp {
    /// The tool's commands that can be called from the shell.
    static let commands = RoostTool.commands.filter { $0.name != ShellCommand.name }

    /// What a statement may begin with.
    static let starts =
        commands.map { $0.name } + ShellWord.allCases.map(\.rawValue)
        + ExplainedQuery.starts.map { $0.uppercased() }

    static func overview() -> String {
        let queries = [
            ("SELECT … FROM …;", "a query in SQL++; it ends with a ; or an empty line"),
            ("SELECT … FROM 'FILE';", "a query of a file of CSV or JSON, which is not imported"),
            ("DESCRIBE COLLECTION;", "what properties its documents have; also of SELECT … or a 'FILE'"),
            ("SUMMARIZE COLLECTION;", "what values these have: least, greatest, average and so on"),
            ("EXPLAIN SELECT …;", "how it would be executed"),
            ("EXPLAIN ANALYZE SELECT …;", "how it was executed, and what it took"),
        ]
        let words = ShellWord.allCases.map { ($0.usage, $0.summary) }
        let commands = commands.map { ($0.name, $0.summary) }
        return """
            Queries:
            \(Help.lines(queries))

            The shell:
            \(Help.lines(words))

            Commands, without DB:
            \(Help.lines(commands))

            `help functions` lists what queries can call, and `help NAME` tells more of a command or function.
            Names that sqlite3, duckdb and psql have for these work, too: .tables, .schema, .import, .mode, \\dt, \\d.
            Rows are shown as a table on a terminal, and as JSON elsewhere. Tab completes, Ctrl-R searches what was typed
            before, and Ctrl-C stops what is being done.
            """
    }

    /// More of a command, or of a word of the shell.
    static func text(of name: String) throws -> String {
        if let word = ShellWord(typed: name) { return "\(word.usage)\n\n  \(word.summary)" }
        if ExplainedQuery.starts.contains(name.lowercased()) { return overview() }
        if name.lowercased() == "functions" { return functions() }
        if let command = commands.first(where: { $0.name == name.lowercased() }) {
            return Help.text(of: command, inShell: true)
        }
        if let entry = FunctionTable.entry(named: name) {
            let aliases =
                entry.aliases.isEmpty ? "" : "\n  Also called \(entry.aliases.joined(separator: ", "))."
            return "\(entry.usage)\n\n  Yields \(entry.meaning).\(aliases)"
        }
        throw CommandFailure(unknown(name))
    }

    /// All functions that queries can call.
    private static func functions() -> String {
        let topics = FunctionTable.Topic.allCases.map { topic in
            let entries = FunctionTable.entries(of: topic)
            return "\(topic.rawValue):\n" + Help.lines(entries.map { ($0.usage, $0.meaning) })
        }
        return (topics + ["`help NAME` tells the other names of a function."]).joined(separator: "\n\n")
    }

    /// What is said of a command that there is not.
    static func unknown(_ name: String) -> String {
        let near = Suggestion.text(for: name, among: starts)
        return "There is no command \"\(name)\"\(near.isEmpty ? "." : near) See `help`."
    }
}

// MARK: - Habits

/// What people type who come from other databases, and what to type here.
enum Habits {
    /// What other shells call what is done here under another name; what is typed behind it goes with it.
    private static let translations: [(typed: [String], here: String)] = [
        ([".tables", "\\dt", "show tables", "show collections"], "lscoll"),
        ([".databases", "\\l", "show databases"], "info"),
        ([".indexes", ".indices", "\\di", "show indexes", "show index"], "index list"),
        ([".schema", "\\d"], "DESCRIBE"),
        ([".dump"], "export"),
        ([".import"], "import"),
        ([".export"], "export"),
        (["\\x"], "mode records"),
    ]

    /// What is meant by `text`, if other shells have it and this one does it under another name.
    static func translation(of text: String) throws -> (text: String, isQuery: Bool)? {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        for (typed, here) in translations {
            for name in typed {
                let parts = name.split(separator: " ").map(String.init)
                guard words.prefix(parts.count).map({ $0.lowercased() }) == parts else { continue }
                let rest = Array(words.dropFirst(parts.count))
                if here == "DESCRIBE" { return ("DESCRIBE \(rest.first ?? "_")", true) }
                // `.import FILE TABLE`.
                if name == ".import", rest.count == 2, !rest[1].hasPrefix("-") {
                    return ("import \(rest[0]) --collection \(rest[1])", false)
                }
                return (
                    ([here] + (here == "lscoll" || here == "info" ? [] : rest)).joined(separator: " "), false
                )
            }
        }
        return nil
    }

    private static let table: [(typed: [String], here: String)] = [
        (["show create"], "Documents need no schema. `DESCRIBE COLLECTION;` tells what they have."),
        (
            [".headers", ".width", ".separator"],
            "`mode table`, `box`, `markdown`, `csv` or `json` says how rows are printed."
        ),
        (
            ["\\copy", "copy"],
            "`import FILE` stores the documents of a file, and `SELECT … FROM 'FILE'` reads one without that."
        ),
        (["insert", "upsert", "replace into"], "`put ID JSON` stores a document, and `import FILE` many."),
        (["update", "merge"], "`put ID JSON` replaces a document."),
        (["delete from", "delete", "truncate"], "`rm ID` deletes documents."),
        (["create index"], "`index create NAME --on EXPRESSIONS` makes an index."),
        (["drop index"], "`index drop NAME` drops an index."),
        (["create table", "create collection"], "`mkcoll NAME` makes a collection."),
        (["drop table", "drop collection"], "`rmcoll NAME` removes a collection."),
        (
            ["begin", "start transaction", "commit", "rollback"],
            "Each command is a transaction of its own. `import FILE` stores many documents together."
        ),
        (["db."], "Queries are in SQL++: `SELECT * FROM _ WHERE …;`"),
    ]

    /// What to type instead of `text`, if it is what other shells take.
    static func pointer(for text: String) -> String? {
        let words = text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return table.first { entry in
            entry.typed.contains { words == $0 || words.hasPrefix($0.hasSuffix(".") ? $0 : $0 + " ") }
        }?.here
    }
}
