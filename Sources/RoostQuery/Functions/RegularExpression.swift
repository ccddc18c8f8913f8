/// A regular expression in the dialect of ECMAScript, compiled to instructions for ``PatternMatcher``.
///
/// Understood are alternatives, groups (capturing, named, not capturing), greedy and lazy quantifiers, classes, `.`, `\d \w \s`
/// and their opposites, `\b \B ^ $`, references to groups, look-ahead and look-behind for expressions of one character, and
/// the flags `(?i)`, `(?m)` and `(?s)` at the beginning, which PCRE has.
struct RegularExpression: Sendable {
    /// One step of matching.
    enum Instruction: Sendable {
        case scalar(Unicode.Scalar)
        case anything(includingNewlines: Bool)
        case set(CharacterSet)
        /// Goes on at the first place, and at the second if that leads nowhere.
        case split(Int, Int)
        case jump(Int)
        /// Notes the place: the beginning of group n under 2n, its end under 2n + 1.
        case save(Int)
        /// Forgets what the groups in a repeated part have taken.
        case clear(Range<Int>)
        case lineStart(isMultiline: Bool)
        case lineEnd(isMultiline: Bool)
        case wordBoundary(Bool)
        case reference(Int)
        /// A look ahead (or at the character before), whose own instructions end with ``match``; goes on at `next`.
        case look(isNegated: Bool, isBehind: Bool, next: Int)
        /// Fails when nothing was taken since the place in this register, so that empty repetitions end.
        case progress(Int)
        case match
    }

    private(set) var instructions: [Instruction] = []
    private(set) var groupCount = 1
    private(set) var registerCount = 0
    private(set) var isCaseless = false

    /// The most instructions that an expression may come to.
    static let longestProgram = 20_000

    /// Compiles `pattern`.
    init(_ pattern: String) throws(QueryError) {
        var parser = PatternParser(pattern)
        let node = try parser.parse()
        isCaseless = parser.isCaseless
        groupCount = parser.groupCount
        registerCount = groupCount * 2
        try emit(.save(0))
        try emit(node)
        try emit(.save(1))
        try emit(.match)
    }

    private mutating func emit(_ instruction: Instruction) throws(QueryError) {
        guard instructions.count < Self.longestProgram else {
            throw QueryError("The regular expression is too long when its repetitions are written out")
        }
        instructions.append(instruction)
    }

    private mutating func emit(_ node: PatternNode) throws(QueryError) {
        switch node {
        case .empty: break
        case .instruction(let instruction): try emit(instruction)
        case .sequence(let nodes): for node in nodes { try emit(node) }
        case .alternatives(let nodes): try emit(alternatives: nodes)
        case .group(let inner, let number):
            if let number { try emit(.save(number * 2)) }
            try emit(inner)
            if let number { try emit(.save(number * 2 + 1)) }
        case .look(let inner, let isNegated, let isBehind):
            let place = instructions.count
            try emit(.match)
            try emit(inner)
            try emit(.match)
            instructions[place] = .look(isNegated: isNegated, isBehind: isBehind, next: instructions.count)
        case .repetition(let inner, let least, let most, let isLazy, let groups):
            for _ in 0..<least {
                if !groups.isEmpty { try emit(.clear(groups)) }
                try emit(inner)
            }
            if let most {
                try emit(optional: inner, most - least, isLazy, groups)
            } else {
                try emit(endless: inner, isLazy, groups)
            }
        }
    }

    private mutating func emit(alternatives nodes: [PatternNode]) throws(QueryError) {
        var jumps: [Int] = []
        for (index, node) in nodes.enumerated() {
            guard index < nodes.count - 1 else {
                try emit(node)
                break
            }
            let split = instructions.count
            try emit(.match)
            try emit(node)
            jumps.append(instructions.count)
            try emit(.match)
            instructions[split] = .split(split + 1, instructions.count)
        }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func emit(endless node: PatternNode, _ isLazy: Bool, _ groups: Range<Int>)
        throws(QueryError)
    {
        let register = registerCount
        registerCount += 1
        let split = instructions.count
        try emit(.match)
        try emit(.save(register))
        if !groups.isEmpty { try emit(.clear(groups)) }
        try emit(node)
        try emit(.progress(register))
        try emit(.jump(split))
        instructions[split] = .split(
            isLazy ? instructions.count : split + 1, isLazy ? split + 1 : instructions.count)
    }

    private mutating func emit(
        optional node: PatternNode, _ count: Int, _ isLazy: Bool, _ groups: Range<Int>
    ) throws(QueryError) {
        var splits: [Int] = []
        for _ in 0..<max(count, 0) {
            splits.append(instructions.count)
            try emit(.match)
            if !groups.isEmpty { try emit(.clear(groups)) }
            try emit(node)
        }
        let end = instructions.count
        for split in splits {
            instructions[split] = .split(isLazy ? end : split + 1, isLazy ? split + 1 : end)
        }
    }
}

/// The parts of a regular expression.
indirect enum PatternNode: Sendable {
    case empty
    case instruction(RegularExpression.Instruction)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    case group(PatternNode, number: Int?)
    case look(PatternNode, isNegated: Bool, isBehind: Bool)
    /// With the registers of the groups in it.
    case repetition(PatternNode, least: Int, most: Int?, isLazy: Bool, groups: Range<Int>)
}

/// Characters that an expression allows at a place.
struct CharacterSet: Sendable {
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    /// Sets that it holds besides.
    var others: [CharacterSet] = []
    var isNegated = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        (ranges.contains { $0.contains(scalar) } || others.contains { $0.contains(scalar) }) != isNegated
    }

    static let digits = CharacterSet(ranges: ["0"..."9"])
    static let word = CharacterSet(ranges: ["0"..."9", "A"..."Z", "_"..."_", "a"..."z"])
    static let space = CharacterSet(ranges: [
        "\t"..."\r", " "..." ", "\u{A0}"..."\u{A0}", "\u{1680}"..."\u{1680}", "\u{2000}"..."\u{200A}",
        "\u{2028}"..."\u{2029}", "\u{202F}"..."\u{202F}", "\u{205F}"..."\u{205F}", "\u{3000}"..."\u{3000}",
        "\u{FEFF}"..."\u{FEFF}",
    ])

    func inverted() -> CharacterSet {
        var copy = self
        copy.isNegated.toggle()
        return copy
    }
}

// MARK: - Pattern matcher

/// Looks for a regular expression in a text, by backtracking, and gives up after a number of steps.
///
/// The time that backtracking takes may grow exponentially with the text; the bound makes it an error instead of a hang.
struct PatternMatcher {
    /// What one search may cost.
    static let mostSteps = 2_000_000

    private let expression: RegularExpression
    private let text: [Unicode.Scalar]
    private var registers: [Int]
    private var steps = 0
    private var stack: [Choice] = []

    /// What to go on with when the present way leads nowhere.
    private enum Choice {
        case place(instruction: Int, position: Int)
        /// A register's old value, to be put back.
        case register(Int, old: Int)
    }

    /// Giving up.
    struct TooManySteps: Error {}

    init(_ expression: RegularExpression, _ text: [Unicode.Scalar]) {
        self.expression = expression
        self.text = expression.isCaseless ? text.map(Self.folded) : text
        registers = Array(repeating: -1, count: expression.registerCount)
    }

    /// The next match at or after `start`: the range of each group, `nil` for those that took no part.
    mutating func firstMatch(from start: Int = 0) throws(TooManySteps) -> [Range<Int>?]? {
        guard start <= text.count else { return nil }
        for position in start...text.count {
            for index in registers.indices { registers[index] = -1 }
            if try run(from: 0, at: position) {
                return (0..<expression.groupCount).map { group in
                    let (start, end) = (registers[group * 2], registers[group * 2 + 1])
                    return start >= 0 && end >= start ? start..<end : nil
                }
            }
        }
        return nil
    }

    private mutating func set(_ register: Int, _ value: Int) {
        stack.append(.register(register, old: registers[register]))
        registers[register] = value
    }

    private mutating func run(from first: Int, at start: Int) throws(TooManySteps) -> Bool {
        let bottom = stack.count
        var (instruction, position) = (first, start)
        while true {
            steps += 1
            guard steps <= Self.mostSteps else { throw TooManySteps() }
            if case .match = expression.instructions[instruction] {
                stack.removeSubrange(bottom...)
                return true
            }
            if let next = try step(instruction, &position) {
                instruction = next
                continue
            }
            guard let place = backtrack(to: bottom) else { return false }
            (instruction, position) = place
        }
    }

    /// The next way to try; `nil` when there is none above `bottom`.
    private mutating func backtrack(to bottom: Int) -> (instruction: Int, position: Int)? {
        while stack.count > bottom, let choice = stack.popLast() {
            switch choice {
            case .place(let instruction, let position): return (instruction, position)
            case .register(let register, let old): registers[register] = old
            }
        }
        return nil
    }

    /// Executes one instruction; answers the next one, `nil` when this way leads nowhere.
    private mutating func step(_ index: Int, _ position: inout Int) throws(TooManySteps) -> Int? {
        switch expression.instructions[index] {
        case .scalar(let scalar):
            let wanted = expression.isCaseless ? Self.folded(scalar) : scalar
            guard position < text.count, text[position] == wanted else { return nil }
            position += 1
        case .anything(let includingNewlines):
            guard position < text.count, includingNewlines || !Self.isNewline(text[position]) else {
                return nil
            }
            position += 1
        case .set(let set):
            guard position < text.count, contains(set, text[position]) else { return nil }
            position += 1
        case .split(let first, let second):
            stack.append(.place(instruction: second, position: position))
            return first
        case .jump(let target): return target
        case .save(let register): set(register, position)
        case .clear(let range): for register in range { set(register, -1) }
        case .lineStart(let isMultiline):
            guard position == 0 || isMultiline && Self.isNewline(text[position - 1]) else { return nil }
        case .lineEnd(let isMultiline):
            guard position == text.count || isMultiline && Self.isNewline(text[position]) else { return nil }
        case .wordBoundary(let isWanted):
            guard (isWord(position - 1) != isWord(position)) == isWanted else { return nil }
        case .reference(let group):
            guard try passes(reference: group, &position) else { return nil }
        case .look(let isNegated, let isBehind, let next):
            let start = isBehind ? position - 1 : position
            let saved = registers
            let isThere = start < 0 ? false : try run(from: index + 1, at: start)
            if isNegated || !isThere { registers = saved }
            return isThere == isNegated ? nil : next
        case .progress(let register):
            guard registers[register] != position else { return nil }
        case .match: return nil
        }
        return index + 1
    }

    /// Passes over what a group has taken; one that has taken nothing is passed over anywhere.
    private mutating func passes(reference group: Int, _ position: inout Int) throws(TooManySteps) -> Bool {
        let (start, end) = (registers[group * 2], registers[group * 2 + 1])
        guard start >= 0, end >= start else { return true }
        steps += end - start
        guard steps <= Self.mostSteps else { throw TooManySteps() }
        guard text.count - position >= end - start,
            text[start..<end].elementsEqual(text[position..<position + end - start])
        else { return false }
        position += end - start
        return true
    }

    private func contains(_ set: CharacterSet, _ scalar: Unicode.Scalar) -> Bool {
        guard expression.isCaseless else { return set.contains(scalar) }
        if set.contains(scalar) { return true }
        // The text is folded to lowercase, the set is not.
        let mapping = scalar.properties.uppercaseMapping.unicodeScalars
        guard mapping.count == 1, let upper = mapping.first, upper != scalar else { return false }
        return set.isNegated ? false : set.contains(upper)
    }

    private static func isNewline(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || scalar == "\r" || scalar == "\u{2028}" || scalar == "\u{2029}"
    }

    private func isWord(_ position: Int) -> Bool {
        text.indices.contains(position) && CharacterSet.word.contains(text[position])
    }

    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII { return Unicode.Scalar(UInt8(scalar.value).asciiLowercased) }
        let mapping = scalar.properties.lowercaseMapping.unicodeScalars
        return mapping.count == 1 ? mapping.first ?? scalar : scalar
    }
}
