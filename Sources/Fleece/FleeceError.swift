/// Why bytes are not a Fleece body, text is not JSON, or a value cannot be written.
///
/// A structure with a ``Code`` to decide on, a sentence to show, and the place where it happened.
public struct FleeceError: Error, Equatable, Sendable {
    /// The kinds of failure that a program may want to tell apart.
    public enum Code: Equatable, Sendable {
        /// The bytes are not a well-formed Fleece body.
        case malformedBody
        /// The text is not JSON as RFC 8259 defines it.
        case malformedJSON
        /// A string is not well-formed UTF-8, or a `\u` escape names half of a surrogate pair.
        case illFormedText
        /// Collections are nested deeper than ``FleeceLimits/maximumDepth``.
        case tooDeep
        /// The body would exceed ``FleeceLimits/maximumSize``, or unfolds to many times its own size.
        case tooLarge
        /// A number has no representation: not a number, infinite, or beyond a double's range.
        case unrepresentableNumber
        /// A dictionary key is an integer that the given ``SharedKeys`` do not know.
        case unknownSharedKey
        /// The body uses a part of the format that this library does not read.
        case unsupported
        /// A ``FleeceWriter`` was called out of order: a value without its key, an unclosed collection.
        case misuse
        /// The text is not a path as ``FleecePath`` describes it.
        case malformedPath
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong, as a sentence without the place.
    public let message: String
    /// Where it was noticed, in bytes from the start of the input; `nil` where there is no input.
    public let offset: Int?
    /// The line of ``offset`` in a text, counted from 1; `nil` where the input is not a text.
    public let line: Int?
    /// The column of ``offset`` in its line, counted in bytes from 1; `nil` where the input is not a text.
    public let column: Int?

    package init(_ code: Code, _ message: String, offset: Int? = nil, line: Int? = nil, column: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
        self.line = line
        self.column = column
    }
}

extension FleeceError: CustomStringConvertible {
    /// The message with its place in front: "Line 2, column 7: a value is expected here, not “}”."
    public var description: String {
        if let line, let column {
            return "Line \(line), column \(column): \(message)"
        }
        if let offset {
            return "Byte \(offset): \(message)"
        }
        return message
    }
}

/// The limits that the format or this library sets; each is answered with an error, never with a trap.
public enum FleeceLimits {
    /// How deeply arrays and dictionaries may be nested, in JSON text, in bodies and in the writer.
    public static let maximumDepth = 512

    /// The largest body in bytes: what a wide pointer reaches back when its top bits are kept free.
    public static let maximumSize = 0x7FFF_FFFE
}
