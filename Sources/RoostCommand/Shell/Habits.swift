import Foundation

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
