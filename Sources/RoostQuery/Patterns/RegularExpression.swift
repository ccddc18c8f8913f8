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
