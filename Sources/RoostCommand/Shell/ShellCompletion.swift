import Fleece
import Foundation
import Roost
import RoostQuery

/// What may stand next in a line of the shell: commands, options, documents, files, and in queries what ``QueryCompletion`` finds.
struct ShellCompletion {
    private let session: ShellSession
    private let names: SessionNames

    init(_ session: ShellSession) {
        self.session = session
        names = SessionNames(session)
    }

    /// What the word at the end of `text` may become, which is what was typed of a statement.
    func completions(of text: String) -> Completion {
        // Of several statements on a line the last one is meant.
        let statement = text.lastIndex(of: ";").map { text[text.index(after: $0)...] } ?? text[...]
        let first = statement.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }.lowercased()
        if ["describe", "desc", "summarize"].contains(first), statement.contains(where: \.isWhitespace),
            !statement.lowercased().contains("select")
        {
            let word = String(statement.suffix(while: { !$0.isWhitespace }))
            return Completion(words: names.collections.filter { $0.begins(with: word) }, replaced: word.count)
        }
        if ExplainedQuery.starts.contains(first),
            statement.trimmingPrefix(while: \.isWhitespace).count > first.count
        {
            return QueryCompletion(names, session.parameters.keys.sorted()).completions(of: String(statement))
        }
        let word = String(statement.suffix(while: { !$0.isWhitespace }))
        let before = statement.dropLast(word.count)
        let candidates =
            before.allSatisfy(\.isWhitespace) ? ShellHelp.starts : words(ofCommand: first, before, word)
        return Completion(
            words: Set(candidates.filter { $0.begins(with: word) }).sorted(), replaced: word.count)
    }

    private func words(ofCommand name: String, _ before: Substring, _ word: String) -> [String] {
        let given = before.split(whereSeparator: \.isWhitespace).map(String.init)
        switch ShellWord(typed: name) {
        case .use: return names.collections
        case .help: return ShellHelp.starts + ["functions"] + QuerySyntax.functions
        case .set: return given.count == 1 ? session.parameters.keys.sorted() : []
        case .mode: return OutputMode.allCases.map(\.rawValue)
        case .output, .once, .read: return files(word)
        case .timer, .pager: return ["on", "off"]
        case .exit: return []
        case nil: break
        }
        guard let command = ShellHelp.commands.first(where: { $0.name == name }) else { return [] }
        if word.hasPrefix("-") { return command.options.map(\.name) + ["--help"] }
        if let option = command.options.first(where: { $0.name == given.last }), let value = option.value {
            return option.name == Option.collection.name
                ? names.collections : value == "FILE" ? files(word) : []
        }
        return words(of: command, given.dropFirst().filter { !$0.hasPrefix("-") }, word)
    }

    /// What the next argument of a command may be, by what its help calls it.
    private func words(of command: any Command.Type, _ given: [String], _ word: String) -> [String] {
        let parameters = command.parameters.dropFirst(command.takesDatabase ? 1 : 0)
        let next = parameters.dropFirst(given.count).first ?? parameters.last
        guard let label = next?.label, given.count < parameters.count || next?.repeats == true else {
            return []
        }
        switch label.prefix(while: { $0 != "." }) {
        case "ID", "PATTERN": return names.documents(word)
        case "FILE", "FILE|-", "COPY", "NEW", "TARGET": return files(word)
        case "DESIGN/VIEW": return names.views
        case "NAME" where command.name == SearchCommand.name: return names.textIndexes
        case "NAME" where command.name == IndexCommand.name:
            return given.first == "drop" ? names.valueIndexes + names.textIndexes : []
        case "NAME" where command.name == RemoveCollectionCommand.name: return names.collections
        case let label: return label.contains("|") ? label.split(separator: "|").map(String.init) : []
        }
    }

    /// The files whose path begins so; directories end with a slash.
    private func files(_ word: String) -> [String] {
        let directory = word.suffix(while: { $0 != "/" }).startIndex
        let path = String(word[..<directory])
        let found = (try? FileManager.default.contentsOfDirectory(atPath: path.isEmpty ? "." : path)) ?? []
        return found.filter { !$0.hasPrefix(".") || word[directory...].hasPrefix(".") }.map { name in
            var isDirectory: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: path + name, isDirectory: &isDirectory)
            return path + name + (isDirectory.boolValue ? "/" : "")
        }
    }
}

extension String {
    /// Whether it begins so, in letters of either case.
    func begins(with start: some StringProtocol) -> Bool {
        hasPrefix(start) || lowercased().hasPrefix(start.lowercased())
    }
}

extension StringProtocol {
    /// The longest end whose characters all meet a condition.
    func suffix(while condition: (Character) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, condition(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}

// MARK: - QueryCompletion

/// What may stand next in a query: keywords, those that may follow first, functions, collections, parameters and the paths of
/// properties.
struct QueryCompletion {
    private let names: SessionNames
    private let parameters: [String]

    init(_ names: SessionNames, _ parameters: [String]) {
        self.names = names
        self.parameters = parameters
    }

    /// The keywords, and those that stand together as one.
    private static let keywords =
        QuerySyntax.keywords.filter { !["ORDER", "GROUP"].contains($0) } + ["ORDER BY", "GROUP BY"]

    func completions(of text: String) -> Completion {
        if !text.count(where: { $0 == "`" }).isMultiple(of: 2) { return quotedNames(text) }
        let word = String(text.suffix { $0.isLetter || $0.isNumber || "_.$".contains($0) })
        let before = text.dropLast(word.count)
        if word.hasPrefix("$") {
            return Completion(
                words: parameters.map { "$" + $0 }.filter { $0.begins(with: word) }, replaced: word.count)
        }
        let isLower = word.first?.isLowercase == true
        func cased(_ keywords: [String]) -> [String] { isLower ? keywords.map { $0.lowercased() } : keywords }
        let place = QueryPlace(String(before))
        let likely = place.takesCollection ? names.collections + ["_"] : cased(place.followers)
        let others =
            place.takesCollection
            ? []
            : cased(Self.keywords) + QuerySyntax.functions.map { $0 + "(" }
                + names.paths(in: place.collection)
        let words = likely + Set(others).subtracting(likely).sorted()
        return Completion(words: words.filter { $0.begins(with: word) }, replaced: word.count)
    }

    /// The names that go on what stands behind a back quote.
    private func quotedNames(_ text: String) -> Completion {
        let word = text.suffix { $0 != "`" }
        let place = QueryPlace(String(text.dropLast(word.count + 1)))
        let known = place.takesCollection ? names.collections : Array(names.properties(in: place.collection))
        return Completion(
            words: known.filter { $0.begins(with: word) }.sorted().map { $0 + "`" }, replaced: word.count)
    }
}

/// A place in a query, by what stands before it.
struct QueryPlace {
    /// The keywords that may follow, the most likely first; none where something else must come.
    private(set) var followers: [String] = []
    /// Whether the name of a collection must follow.
    let takesCollection: Bool
    /// The collection of the first FROM, as it is written; `nil` where none is named yet.
    let collection: String?

    private static let clauses: [String: [String]] = [
        "SELECT": ["FROM", "AS"],
        "FROM": ["WHERE", "ORDER BY", "GROUP BY", "LIMIT", "JOIN", "LEFT JOIN", "UNNEST", "AS"],
        "JOIN": ["ON", "AS"], "UNNEST": ["WHERE", "AS", "ORDER BY", "GROUP BY", "LIMIT"],
        "ON": ["WHERE", "AND", "OR", "JOIN", "ORDER BY", "GROUP BY", "LIMIT"],
        "WHERE": ["AND", "OR", "ORDER BY", "GROUP BY", "LIMIT", "LIKE", "IN", "BETWEEN", "IS"],
        "GROUP": ["HAVING", "ORDER BY", "LIMIT"], "HAVING": ["AND", "OR", "ORDER BY", "LIMIT"],
        "ORDER": ["DESC", "ASC", "LIMIT", "OFFSET"], "LIMIT": ["OFFSET"], "OFFSET": [],
    ]
    /// Keywords that are values, or end one.
    private static let values: Set<String> = [
        "NULL", "MISSING", "VALUED", "TRUE", "FALSE", "END", "DESC", "ASC",
    ]

    init(_ before: String) {
        let words = before.split { $0.isWhitespace || $0 == "(" || $0 == "," }.map(String.init)
        let keywords = words.map { $0.uppercased() }
        takesCollection = ["FROM", "JOIN"].contains(keywords.last) && before.last?.isWhitespace == true
        let from = keywords.firstIndex(of: "FROM").map { $0 + 1 }
        collection = from.flatMap { $0 < words.count ? words[$0].filter { $0 != "`" } : nil }
        guard let last = keywords.last,
            !"(,=<>!+-*/%|.".contains(before.trimmingEnd().last ?? "(") || last == "*",
            Self.values.contains(last) || !QuerySyntax.keywords.contains(last),
            let clause = keywords.last(where: { Self.clauses[$0] != nil })
        else { return }
        followers = Self.clauses[clause] ?? []
    }
}

extension String {
    fileprivate func trimmingEnd() -> Substring { dropLast(suffix(while: \.isWhitespace).count) }
}

// MARK: - SessionNames

/// The names that there are in the database of a session: nothing where it can't be asked.
struct SessionNames {
    private let session: ShellSession
    private static let sampledDocuments = 100
    private static let mostIDs = 50
    private static let deepest = 3

    init(_ session: ShellSession) { self.session = session }

    private var present: DocumentCollection? { try? session.present() }

    var collections: [String] { (try? CollectionNames.all(of: session.database)) ?? [] }
    var valueIndexes: [String] { (try? present?.valueIndexes().map(\.name)) ?? [] }
    var textIndexes: [String] { (try? present?.textIndexes().map(\.name)) ?? [] }

    /// The views as `view` takes them.
    var views: [String] {
        guard let collection = present, let designs = try? collection.snapshot().documents(prefix: "_design/")
        else {
            return []
        }
        return designs.flatMap { design in
            let views = (try? collection.viewNames(of: design.id)) ?? []
            return views.map { "\(design.id.dropFirst("_design/".count))/\($0)" }
        }
    }

    /// The IDs of documents that begin so, the first of them.
    func documents(_ prefix: String) -> [String] {
        guard let snapshot = try? present?.snapshot(),
            let cursor = try? snapshot.cursor(DocumentSelection(prefix: prefix, limit: Self.mostIDs))
        else { return [] }
        var ids: [String] = []
        while let document = try? cursor.next() { ids.append(document.id) }
        return ids
    }

    /// The paths of properties, as queries take them without quotation marks, in some documents of a collection.
    func paths(in name: String?) -> [String] {
        var paths: Set<String> = ["_id"]
        forEachSample(of: collection(name)) { Self.add($0.value, "", 1, to: &paths) }
        return Array(paths)
    }

    /// The names of properties of some documents of a collection.
    func properties(in name: String?) -> Set<String> { properties(of: collection(name)) }

    private func properties(of collection: DocumentCollection?) -> Set<String> {
        var names: Set<String> = []
        forEachSample(of: collection) { document in
            for member in document.value.dictionary ?? .empty { names.insert(member.key) }
        }
        return names
    }

    /// A sentence for each property that a query asks for and some documents of its collection have not, but one of a like name.
    func misspelt(in query: DatabaseQuery) -> [String] {
        query.properties.flatMap { collection, names -> [String] in
            let known = properties(of: collection)
            return names.compactMap { name in
                guard !known.contains(name), !name.hasPrefix("_") else { return nil }
                let suggestion = Suggestion.text(for: name, among: known)
                guard !suggestion.isEmpty else { return nil }
                return "None of the first \(Self.sampledDocuments) documents has \(name)\(suggestion)"
            }
        }
    }

    /// The collection that a query calls so; the present one without a name.
    private func collection(_ name: String?) -> DocumentCollection? {
        guard let name, name != "_" else { return present }
        return try? session.database.collection(named: name, createsIfMissing: false)
    }

    private func forEachSample(of collection: DocumentCollection?, _ body: (Document) -> Void) {
        guard let snapshot = try? collection?.snapshot(),
            let cursor = try? snapshot.cursor(DocumentSelection(limit: Self.sampledDocuments))
        else { return }
        while let document = try? cursor.next() { body(document) }
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
