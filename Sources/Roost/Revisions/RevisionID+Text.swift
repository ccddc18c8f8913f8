extension RevisionID: CustomStringConvertible {
    /// The text form, such as `3-5d9a6f0c1e2b4a7788990011223344ff`.
    public var description: String {
        var text = Array(String(generation).utf8)
        text.append(UInt8(ascii: "-"))
        digest.appendText(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

extension RevisionID: LosslessStringConvertible {
    /// Reads the text form; `nil` for anything else. ``init(validating:)`` says what is wrong with it.
    public init?(_ description: String) {
        guard let id = try? Self(validating: description) else { return nil }
        self = id
    }
}

extension RevisionID {
    /// Reads the text form: a generation from 1 to 2^63 − 1 without sign or leading zeros, a hyphen, and 0 to 64 bytes of
    /// UTF-8 without control characters. 32 hexadecimal digits may be large or small; they are written small.
    ///
    /// - Throws: `invalidRevisionID`, whose message says which rule is broken and where.
    public init(validating text: String) throws(DatabaseError) {
        let longest = 19 + 1 + RevisionDigest.textLengths.upperBound
        guard text.utf8.count <= longest else {
            throw Self.invalid(text, "it is \(text.utf8.count) bytes long, and the longest is \(longest)")
        }
        let bytes = Array(text.utf8)
        guard let hyphen = bytes.firstIndex(of: UInt8(ascii: "-")) else {
            throw Self.invalid(text, "there is no hyphen between a generation and a digest")
        }
        let generation = try Self.generation(bytes[..<hyphen], of: text)
        guard let digest = RevisionDigest(text: bytes.span.extracting((hyphen + 1)..<bytes.count)) else {
            throw Self.invalid(
                text, "what follows the hyphen is not at most 64 bytes of UTF-8 without control characters")
        }
        self.init(generation: generation, digest: digest)
    }

    private static func generation(
        _ digits: ArraySlice<UInt8>, of text: String
    ) throws(DatabaseError) -> UInt64 {
        guard let first = digits.first, first != UInt8(ascii: "0") else {
            throw invalid(text, "the generation before the hyphen must start with a digit from 1 to 9")
        }
        var generation: UInt64 = 0
        for (offset, digit) in digits.enumerated() {
            guard digit >= UInt8(ascii: "0") && digit <= UInt8(ascii: "9") else {
                throw invalid(text, "byte \(offset) is not a decimal digit")
            }
            let value = UInt64(digit - UInt8(ascii: "0"))
            guard generation <= (maximumGeneration - value) / 10 else {
                throw invalid(text, "the generation is greater than \(maximumGeneration)")
            }
            generation = generation * 10 + value
        }
        return generation
    }

    private static func invalid(_ text: String, _ reason: String) -> DatabaseError {
        DatabaseError(
            .invalidRevisionID,
            "\(DatabaseError.quoted(text)) is not a revision ID: \(reason). "
                + "A revision ID looks like 3-9f86d081.")
    }
}

extension RevisionID: Codable {
    /// Reads the text form from a single string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(DatabaseError) {
            try self.init(validating: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Writes the text form as a single string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
