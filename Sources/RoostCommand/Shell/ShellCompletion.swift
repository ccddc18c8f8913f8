import Fleece
import Roost
import RoostQuery

/// What may stand next in a line of the shell: commands, options, documents, and in queries keywords, functions, collections
/// and the paths of properties.
struct ShellCompletion {
    private let shell: Shell
    private static let sampledDocuments = 100
    private static let mostIDs = 50
    private static let deepest = 3

    init(_ shell: Shell) { self.shell = shell }

    func completions(of line: String) -> Completion {
        let word = String(
            line.reversed().prefix { !" \t(,=<>!+-*/%'\"".contains($0) || $0 == "-" && isOption(line) }
                .reversed())
        let before = line.dropLast(word.count)
        let first = line.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }.lowercased()
        var candidates: [String]
        if before.allSatisfy(\.isWhitespace) {
            candidates =
                RoostTool.commands.map { $0.name }.filter { $0 != ShellCommand.name } + Shell.words + [
                    "SELECT"
                ]
        } else if first == "select" || first == "explain" {
            candidates = queryWords(before, word)
        } else {
            candidates = words(ofCommand: first, before, word)
        }
        candidates = Set(candidates.filter { Self.begins($0, word) }).sorted()
        return Completion(words: candidates, replaced: word.count)
    }

    private func isOption(_ line: String) -> Bool {
        line.split(separator: " ").last?.hasPrefix("-") == true
    }

    /// Keywords complete words of either case.
    private static func begins(_ candidate: String, _ word: String) -> Bool {
        candidate.hasPrefix(word) || candidate.lowercased().hasPrefix(word.lowercased())
    }

    // MARK: Commands

    private func words(ofCommand name: String, _ before: Substring, _ word: String) -> [String] {
        if name == "use" || before.hasSuffix("--collection ") { return collections }
        if name == "help" { return RoostTool.commands.map { $0.name } }
        guard let command = RoostTool.commands.first(where: { $0.name == name }) else { return [] }
        if word.hasPrefix("-") { return command.options.map(\.name) + ["--help"] }
        if name == "index" || name == "view" {
            let verbs =
                command.parameters.dropFirst().first?.label.split(separator: "|").map(String.init) ?? []
            return verbs + indexes
        }
        let takesID = command.parameters.contains { $0.label.hasPrefix("ID") }
        return takesID ? documents(word) : []
    }

    private func documents(_ prefix: String) -> [String] {
        guard let collection = shell.present, let snapshot = try? collection.snapshot(),
            let cursor = try? snapshot.cursor(DocumentSelection(prefix: prefix, limit: Self.mostIDs))
        else { return [] }
        var ids: [String] = []
        while let document = try? cursor.next() { ids.append(document.id) }
        return ids
    }

    private var indexes: [String] {
        (try? shell.present?.valueIndexes().map(\.name)) ?? []
    }

    private var collections: [String] {
        let scopes = (try? shell.database.scopes) ?? []
        return scopes.flatMap { scope in
            ((try? shell.database.collections(scope: scope)) ?? []).map {
                scope == "_default" ? $0.collectionName : "\(scope).\($0.collectionName)"
            }
        }
    }

    // MARK: Queries

    private func queryWords(_ before: Substring, _ word: String) -> [String] {
        let last = before.split { $0 == " " || $0 == "\t" }.last?.uppercased()
        if last == "FROM" || last == "JOIN" { return collections + ["_"] }
        let isLower = word.first?.isLowercase == true
        let keywords = QuerySyntax.keywords.map { isLower ? $0.lowercased() : $0 }
        return keywords + QuerySyntax.functions.map { $0 + "(" } + paths(before)
    }

    /// The paths of properties in some documents of the collection that the query reads.
    private func paths(_ before: Substring) -> [String] {
        var collection = shell.present
        let words = before.split { $0 == " " || $0 == "\t" }
        if let place = words.firstIndex(where: { $0.uppercased() == "FROM" }), place + 1 < words.count,
            words[place + 1] != "_"
        {
            collection = try? shell.database.collection(
                named: String(words[place + 1]), createIfMissing: false)
        }
        guard let collection, let snapshot = try? collection.snapshot(),
            let cursor = try? snapshot.cursor(DocumentSelection(limit: Self.sampledDocuments))
        else { return [] }
        var paths: Set<String> = ["_id"]
        while let document = try? cursor.next() { Self.add(document.value, "", 1, to: &paths) }
        return Array(paths)
    }

    private static func add(_ value: FleeceValue, _ prefix: String, _ depth: Int, to paths: inout Set<String>)
    {
        for member in value.dictionary ?? .empty {
            guard member.key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { continue }
            paths.insert(prefix + member.key)
            if depth < deepest { add(member.value, prefix + member.key + ".", depth + 1, to: &paths) }
        }
    }
}

extension Shell {
    /// The collection that is meant where none is named.
    var present: DocumentCollection? {
        _ = try? database.refresh()
        guard let collection else { return try? database.defaultCollection }
        return try? database.collection(named: collection, createIfMissing: false)
    }
}
