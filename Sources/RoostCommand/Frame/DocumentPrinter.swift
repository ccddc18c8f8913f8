import Fleece
import Foundation
import Roost

/// Prints documents as JSON: for people on a terminal, in colours and on several lines, else one a line.
struct DocumentPrinter {
    private let isPretty: Bool
    private let isColoured: Bool

    /// As `--pretty` and `--compact` say, or else as fits where the output goes.
    init(_ invocation: Invocation) throws {
        guard !(invocation.has(Option.pretty.name) && invocation.has(Option.compact.name)) else {
            throw UsageError("--pretty excludes --compact.")
        }
        isPretty =
            invocation.has(Option.pretty.name)
            || !invocation.has(Option.compact.name) && Console.isTerminal(STDOUT_FILENO)
        isColoured = Console.hasColours
    }

    /// Prints a document with `_id` and `_rev`, and with `additions` at its end.
    func print(_ document: Document, adding additions: [(name: String, value: DocumentValue)] = []) throws {
        var text = document.json(isPretty ? .pretty : .compact, with: .all)
        for (name, value) in additions {
            text.removeLast(isPretty ? 2 : 1)
            text += isPretty ? ",\n  \"\(name)\": \(value)\n}" : ",\"\(name)\":\(value)}"
        }
        guard isColoured else { return Console.print(text) }
        Console.printPainted(JSONColours.paint(ControlCharacters.escaped(in: text)))
    }
}
