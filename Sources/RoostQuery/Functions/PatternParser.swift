import RoostBytes
import RoostOrder

/// Reads regular expressions.
struct PatternParser {
    private let text: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    private(set) var groupCount = 1
    private(set) var isCaseless = false
    private var isMultiline = false
    private var matchesNewlines = false
    private var names: [String: Int] = [:]
    private static let deepest = 100
    private static let mostRepetitions = 1000

    init(_ pattern: String) { text = Array(pattern.unicodeScalars) }

    mutating func parse() throws(QueryError) -> PatternNode {
        try takeFlags()
        let node = try alternatives()
        guard position == text.count else { throw problem("a closing parenthesis has no opening one") }
        return node
    }

    private func problem(_ reason: String) -> QueryError {
        QueryError("In the regular expression, \(reason) (character \(position + 1))")
    }

    private var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

    private mutating func take(_ string: String) -> Bool {
        let wanted = Array(string.unicodeScalars)
        guard text[position...].starts(with: wanted) else { return false }
        position += wanted.count
        return true
    }

    /// `(?i)`, `(?ms)` at the very beginning.
    private mutating func takeFlags() throws(QueryError) {
        guard text.starts(with: "(?".unicodeScalars), let end = text.firstIndex(of: ")") else { return }
        let flags = text[2..<end]
        guard !flags.isEmpty, flags.allSatisfy({ "imsu".unicodeScalars.contains($0) }) else { return }
        isCaseless = flags.contains("i")
        isMultiline = flags.contains("m")
        matchesNewlines = flags.contains("s")
        position = end + 1
    }

    private mutating func alternatives() throws(QueryError) -> PatternNode {
        guard depth < Self.deepest else { throw problem("groups are nested more than \(Self.deepest) deep") }
        depth += 1
        defer { depth -= 1 }
        var nodes = [try sequence()]
        while take("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
    }

    private mutating func sequence() throws(QueryError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            let firstGroup = groupCount
            let atom = try atom()
            nodes.append(try quantified(atom, firstGroup * 2..<groupCount * 2))
        }
        return nodes.isEmpty ? .empty : nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    // MARK: Quantifiers

    private mutating func quantified(_ node: PatternNode, _ groups: Range<Int>) throws(QueryError)
        -> PatternNode
    {
        let bounds: (least: Int, most: Int?)
        if take("*") {
            bounds = (0, nil)
        } else if take("+") {
            bounds = (1, nil)
        } else if take("?") {
            bounds = (0, 1)
        } else if next == "{", let counted = try countedBounds() {
            bounds = counted
        } else {
            return node
        }
        let isLazy = take("?")
        if let next, "*+?".unicodeScalars.contains(next) { throw problem("there is nothing to repeat") }
        return .repetition(node, least: bounds.least, most: bounds.most, isLazy: isLazy, groups: groups)
    }

    /// `{2}`, `{2,}` or `{2,5}`; `nil` where the brace is an ordinary character.
    private mutating func countedBounds() throws(QueryError) -> (least: Int, most: Int?)? {
        let start = position
        position += 1
        guard let least = number() else {
            position = start
            return nil
        }
        var most: Int? = least
        if take(",") { most = next == "}" ? nil : number() ?? -1 }
        guard take("}"), most != -1 else {
            position = start
            return nil
        }
        guard least <= Self.mostRepetitions, (most ?? 0) <= Self.mostRepetitions else {
            throw problem("at most \(Self.mostRepetitions) repetitions can be counted")
        }
        guard most.map({ $0 >= least }) ?? true else {
            throw problem("the bounds in braces are the wrong way round")
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var digits = ""
        while let scalar = next, CharacterSet.digits.contains(scalar), digits.count < 6 {
            digits.unicodeScalars.append(scalar)
            position += 1
        }
        return Int(digits)
    }

    // MARK: Atoms

    private mutating func atom() throws(QueryError) -> PatternNode {
        guard let scalar = next else { return .empty }
        position += 1
        switch scalar {
        case "^": return .instruction(.lineStart(isMultiline: isMultiline))
        case "$": return .instruction(.lineEnd(isMultiline: isMultiline))
        case ".": return .instruction(.anything(includingNewlines: matchesNewlines))
        case "(": return try group()
        case "[": return .instruction(.set(try characterClass()))
        case "\\": return try escape()
        case "*", "+", "?": throw problem("there is nothing to repeat")
        case "{":
            position -= 1
            if try countedBounds() != nil { throw problem("there is nothing to repeat") }
            position += 1
            return .instruction(.scalar(scalar))
        default: return .instruction(.scalar(scalar))
        }
    }

    private mutating func group() throws(QueryError) -> PatternNode {
        let node: PatternNode
        if take("?:") {
            node = .group(try alternatives(), number: nil)
        } else if take("?=") {
            node = .look(try alternatives(), isNegated: false, isBehind: false)
        } else if take("?!") {
            node = .look(try alternatives(), isNegated: true, isBehind: false)
        } else if take("?<=") || take("?<!") {
            let isNegated = text[position - 1] == "!"
            let inner = try alternatives()
            guard inner.isOneCharacter else { throw problem("look-behind is for single characters only") }
            node = .look(inner, isNegated: isNegated, isBehind: true)
        } else {
            let number = groupCount
            groupCount += 1
            if take("?<") || take("?P<") { names[try groupName()] = number }
            if next == "?" { throw problem("this kind of group is not known") }
            node = .group(try alternatives(), number: number)
        }
        guard take(")") else { throw problem("a parenthesis is not closed") }
        return node
    }

    private mutating func groupName() throws(QueryError) -> String {
        var name = ""
        while let scalar = next, scalar != ">" {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        guard take(">"), !name.isEmpty else { throw problem("the name of a group ends in >") }
        return name
    }

    private mutating func escape() throws(QueryError) -> PatternNode {
        guard let scalar = next else { throw problem("a character must follow the backslash") }
        switch scalar {
        case "b", "B":
            position += 1
            return .instruction(.wordBoundary(scalar == "b"))
        case "1"..."9":
            guard let number = number(), number < groupCount else {
                throw problem("there is no group of that number")
            }
            return .instruction(.reference(number))
        case "k":
            position += 1
            guard take("<"), let number = names[try groupName()] else {
                throw problem("there is no group of that name")
            }
            return .instruction(.reference(number))
        case "A", "z", "Z":
            position += 1
            return .instruction(scalar == "A" ? .lineStart(isMultiline: false) : .lineEnd(isMultiline: false))
        default: break
        }
        if let set = try classEscape() { return .instruction(.set(set)) }
        return .instruction(.scalar(try scalarEscape()))
    }

    /// `\d` and its like, after the backslash; `nil` for anything else.
    private mutating func classEscape() throws(QueryError) -> CharacterSet? {
        let set: CharacterSet
        switch next {
        case "d": set = .digits
        case "D": set = .digits.inverted()
        case "w": set = .word
        case "W": set = .word.inverted()
        case "s": set = .space
        case "S": set = .space.inverted()
        default: return nil
        }
        position += 1
        return set
    }

    /// The character that an escape stands for, after the backslash.
    private mutating func scalarEscape() throws(QueryError) -> Unicode.Scalar {
        guard let scalar = next else { throw problem("a character must follow the backslash") }
        position += 1
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{0B}"
        case "f": return "\u{0C}"
        case "0": return "\0"
        case "x": return try hexadecimal(2)
        case "u":
            guard take("{") else { return try hexadecimal(4) }
            var digits = 0
            while digits < 6, position + digits < text.count, text[position + digits] != "}" { digits += 1 }
            let result = try hexadecimal(digits)
            guard take("}") else { throw problem("\\u{…} is not closed") }
            return result
        case "a"..."z", "A"..."Z": throw problem("the escape \\\(scalar) is not known")
        default: return scalar
        }
    }

    private mutating func hexadecimal(_ count: Int) throws(QueryError) -> Unicode.Scalar {
        let digits = text[position...].prefix(count)
        guard digits.count == count, let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw problem("hexadecimal digits of a character are expected") }
        position += count
        return scalar
    }

    // MARK: Classes

    private mutating func characterClass() throws(QueryError) -> CharacterSet {
        var set = CharacterSet()
        set.isNegated = take("^")
        while let scalar = next {
            if take("]") { return set }
            if take("[:") {
                set.others.append(try posixClass())
                continue
            }
            position += 1
            if scalar == "\\", let other = try classEscape() {
                set.others.append(other)
                continue
            }
            let first = scalar == "\\" ? try classScalar() : scalar
            guard next == "-", position + 1 < text.count, text[position + 1] != "]" else {
                set.ranges.append(first...first)
                continue
            }
            position += 1
            let last: Unicode.Scalar
            if take("\\") { last = try classScalar() } else { last = text[position]; position += 1 }
            guard first <= last else { throw problem("a range in brackets is the wrong way round") }
            set.ranges.append(first...last)
        }
        throw problem("a bracket is not closed")
    }

    /// In brackets `\b` is a backspace.
    private mutating func classScalar() throws(QueryError) -> Unicode.Scalar {
        if take("b") { return "\u{08}" }
        return try scalarEscape()
    }

    private mutating func posixClass() throws(QueryError) -> CharacterSet {
        var name = ""
        while let scalar = next, scalar != ":" {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        guard take(":]") else { throw problem("[: is not closed by :]") }
        switch name {
        case "alpha": return CharacterSet(ranges: ["A"..."Z", "a"..."z"])
        case "digit": return .digits
        case "alnum": return CharacterSet(ranges: ["0"..."9", "A"..."Z", "a"..."z"])
        case "upper": return CharacterSet(ranges: ["A"..."Z"])
        case "lower": return CharacterSet(ranges: ["a"..."z"])
        case "space": return .space
        case "word": return .word
        case "punct": return CharacterSet(ranges: ["!"..."/", ":"..."@", "["..."`", "{"..."~"])
        case "xdigit": return CharacterSet(ranges: ["0"..."9", "A"..."F", "a"..."f"])
        default: throw problem("there is no class [:\(name):]")
        }
    }
}

extension PatternNode {
    /// Whether it takes exactly one character, whatever it matches.
    fileprivate var isOneCharacter: Bool {
        switch self {
        case .instruction(.scalar), .instruction(.set), .instruction(.anything): true
        case .group(let inner, _): inner.isOneCharacter
        case .alternatives(let nodes): nodes.allSatisfy(\.isOneCharacter)
        default: false
        }
    }
}

// MARK: - Like pattern

/// LIKE: `%` stands for any characters, `_` for one, and a backslash makes either an ordinary character.
enum LikePattern {
    static func matches(_ text: ByteView, _ pattern: ByteView, _ collation: Collation) -> Bool {
        switch collation.texts {
        case .bytes: return matches(Scalars(text), Scalars(pattern))
        case .caselessASCII:
            return matches(Scalars(text, isCaseless: true), Scalars(pattern, isCaseless: true))
        case .unicode:
            let text = String(UnicodeText.fold(text.string, collation))
            let pattern = String(UnicodeText.fold(pattern.string, collation))
            return matches(Array(text.unicodeScalars), Array(pattern.unicodeScalars))
        }
    }

    private static func matches(_ text: Scalars, _ pattern: Scalars) -> Bool {
        matches(text.array, pattern.array)
    }

    /// Goes back to the last `%` only, so that it takes at most the product of both lengths.
    private static func matches(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
        var (position, index) = (0, 0)
        var retry: (position: Int, index: Int)?
        while true {
            if index == pattern.count {
                if position == text.count { return true }
            } else if pattern[index] == "%" {
                index += 1
                retry = (position, index)
                continue
            } else if position < text.count {
                var wanted = pattern[index]
                var isAny = wanted == "_"
                var length = 1
                if wanted == "\\", index + 1 < pattern.count {
                    wanted = pattern[index + 1]
                    isAny = false
                    length = 2
                }
                if isAny || text[position] == wanted {
                    position += 1
                    index += length
                    continue
                }
            }
            guard let last = retry, last.position < text.count else { return false }
            retry = (last.position + 1, last.index)
            (position, index) = (last.position + 1, last.index)
        }
    }

    /// The characters of a text.
    private struct Scalars {
        let array: [Unicode.Scalar]

        init(_ text: ByteView, isCaseless: Bool = false) {
            array = text.string.unicodeScalars.map {
                isCaseless && $0.isASCII ? Unicode.Scalar(UInt8($0.value).asciiLowercased) : $0
            }
        }
    }
}
