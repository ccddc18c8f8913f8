import Fleece
import Foundation
import Roost

/// Small JSON objects for `--json`, keys in the order given.
struct JSONObject {
    private var members: [String] = []

    init() {}

    /// `"text"`, escaped.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where ControlCharacters.contains(scalar): result += ControlCharacters.escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// An array of what is JSON already.
    static func array(_ items: [String]) -> String { "[\(items.joined(separator: ","))]" }

    mutating func add(_ key: String, _ text: String) { add(key, raw: JSONObject.quoted(text)) }
    mutating func add(_ key: String, _ number: some BinaryInteger) { add(key, raw: "\(number)") }
    mutating func add(_ key: String, _ number: Double) { add(key, raw: "\(number)") }
    mutating func add(_ key: String, _ flag: Bool) { add(key, raw: flag ? "true" : "false") }

    /// Adds a member whose value is JSON already.
    mutating func add(_ key: String, raw json: String) { members.append("\(JSONObject.quoted(key)):\(json)") }

    var text: String { "{\(members.joined(separator: ","))}" }
}

// MARK: - JSONColours

/// Paints JSON text for a terminal: keys, strings, numbers, and the three words each in a colour of their own.
enum JSONColours {
    private static let key = "\u{1B}[34m"
    private static let string = "\u{1B}[32m"
    private static let number = "\u{1B}[36m"
    private static let word = "\u{1B}[33m"
    private static let plain = "\u{1B}[0m"

    /// The text, which is well-formed JSON, with the sequences of ISO 6429 for colours.
    static func paint(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var painted: [UInt8] = []
        painted.reserveCapacity(bytes.count * 2)
        var position = 0
        while position < bytes.count {
            let end = tokenEnd(bytes, position)
            let colour = colour(bytes, position, end)
            if let colour { painted += colour.utf8 }
            painted += bytes[position..<end]
            if colour != nil { painted += plain.utf8 }
            position = end
        }
        return String(decoding: painted, as: UTF8.self)
    }

    private static func colour(_ bytes: [UInt8], _ start: Int, _ end: Int) -> String? {
        switch bytes[start] {
        case UInt8(ascii: "\""): end < bytes.count && bytes[end] == UInt8(ascii: ":") ? key : string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): number
        case UInt8(ascii: "a")...UInt8(ascii: "z"): word
        default: nil
        }
    }

    /// Where the token at `start` ends.
    private static func tokenEnd(_ bytes: [UInt8], _ start: Int) -> Int {
        guard bytes[start] == UInt8(ascii: "\"") else {
            guard isPartOfScalar(bytes[start]) else { return start + 1 }
            return bytes[start...].firstIndex { !isPartOfScalar($0) } ?? bytes.count
        }
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }

    private static func isPartOfScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

// MARK: - DocumentPrinter

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
