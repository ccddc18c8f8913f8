/// A way from one value to another inside it: `address.street`, `phones[0].kind`, `readings[-1]`.
///
/// Keys are separated by dots; indices stand in brackets and count from the end if negative. In a key, a
/// backslash before `.`, `[`, `]` or `\` makes it an ordinary character. A path is parsed once and can be used
/// on any number of documents.
public struct FleecePath: Hashable, Sendable {
    /// One step of a path.
    package enum Component: Hashable, Sendable {
        case key(String)
        case index(Int)

        /// Names are the same when their bytes are, which Swift's strings don't ask for.
        package static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.key(let left), .key(let right)): left.utf8.elementsEqual(right.utf8)
            case (.index(let left), .index(let right)): left == right
            default: false
            }
        }

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .key(let key): for byte in key.utf8 { hasher.combine(byte) }
            case .index(let index): hasher.combine(index)
            }
        }
    }

    /// The steps, the outermost first.
    package let components: [Component]

    /// The path that `text` describes. An empty text stays where it is.
    ///
    /// - Throws: ``FleeceError/Code/malformedPath``, with the offset in bytes.
    public init(parsing text: String) throws(FleeceError) {
        var parser = Parser(text: Array(text.utf8))
        components = try parser.parse()
    }

    private struct Parser {
        let text: [UInt8]
        var position = 0
        var components: [Component] = []

        init(text: [UInt8]) {
            self.text = text
        }

        mutating func parse() throws(FleeceError) -> [Component] {
            while position < text.count {
                if text[position] == UInt8(ascii: "[") {
                    try parseIndex()
                } else {
                    if !components.isEmpty {
                        guard text[position] == UInt8(ascii: ".") else {
                            throw failure("a dot or a bracket is expected")
                        }
                        position += 1
                    }
                    try parseKey()
                }
            }
            return components
        }

        private mutating func parseKey() throws(FleeceError) {
            var key: [UInt8] = []
            loop: while position < text.count {
                switch text[position] {
                case UInt8(ascii: "."), UInt8(ascii: "["):
                    break loop
                case UInt8(ascii: "]"):
                    throw failure("a closing bracket has no opening one")
                case UInt8(ascii: "\\"):
                    position += 1
                    guard position < text.count else {
                        throw failure("a character must follow the backslash")
                    }
                default:
                    break
                }
                key.append(text[position])
                position += 1
            }
            guard !key.isEmpty else { throw failure("a key is expected") }
            components.append(.key(String(decoding: key, as: UTF8.self)))
        }

        private mutating func parseIndex() throws(FleeceError) {
            guard let end = text[position...].firstIndex(of: UInt8(ascii: "]")) else {
                throw failure("the bracket is not closed")
            }
            guard let index = Int(String(decoding: text[(position + 1)..<end], as: UTF8.self)) else {
                throw failure("the brackets must hold an integer")
            }
            components.append(.index(index))
            position = end + 1
        }

        private func failure(_ reason: String) -> FleeceError {
            let path = String(decoding: text, as: UTF8.self)
            return FleeceError(.malformedPath, "In the path “\(path)”, \(reason).", offset: position)
        }
    }
}

extension FleecePath: ExpressibleByStringLiteral {
    /// The path that a literal in the program describes. A malformed literal is a programming error and stops
    /// the program; use ``init(parsing:)`` for text from elsewhere.
    public init(stringLiteral text: String) {
        do {
            try self.init(parsing: text)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension FleecePath: CustomStringConvertible {
    /// The path in the form that ``init(parsing:)`` reads.
    public var description: String {
        components.reduce(into: "") { text, component in
            switch component {
            case .index(let index):
                text += "[\(index)]"
            case .key(let key):
                if !text.isEmpty { text += "." }
                for character in key {
                    if ".[]\\".contains(character) { text += "\\" }
                    text.append(character)
                }
            }
        }
    }
}
