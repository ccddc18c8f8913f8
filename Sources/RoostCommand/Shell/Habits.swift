import Foundation

/// What people type who come from other databases, and what to type here.
enum Habits {
    private static let table: [(typed: [String], here: String)] = [
        (
            [
                ".tables", ".databases", "\\dt", "\\d", "\\l", "show tables", "show collections",
                "show databases",
            ],
            "`lscoll` lists the collections."
        ),
        ([".indexes", ".indices", "\\di", "show indexes", "show index"], "`index list` lists the indexes."),
        (
            [".schema", "describe", "desc", "show create"],
            "Documents need no schema. `SELECT * FROM _ LIMIT 10;` shows some of them."
        ),
        (
            [".mode", ".headers", "\\x"],
            "`mode table`, `json`, `csv` or `records` says how rows are printed."
        ),
        ([".dump"], "`export` prints all documents."),
        ([".import", "\\copy", "copy"], "`import FILE` stores the documents of a file."),
        ([".read", "\\i"], "Give the file as standard input: `roost shell DB < FILE`."),
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
