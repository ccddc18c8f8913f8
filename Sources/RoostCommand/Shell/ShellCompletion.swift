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
