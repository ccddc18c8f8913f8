extension RevisionID: CustomStringConvertible {
    /// The text form, such as `3-5d9a6f0c1e2b4a7788990011223344ff`.
    public var description: String {
        var bytes = Array(String(generation).utf8)
        bytes.reserveCapacity(bytes.count + 1 + 2 * digest.count)
        bytes.append(UInt8(ascii: "-"))
        for index in 0..<digest.count {
            bytes.append(Self.hexDigit(digest[index] >> 4))
            bytes.append(Self.hexDigit(digest[index] & 15))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
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
    /// Reads the text form: a generation from 1 to 2^63 − 1 without sign or leading zeros, a hyphen, and 2
    /// to 64 lowercase hexadecimal digits, an even number of them. Nothing before, between or after.
    ///
    /// - Throws: `invalidRevisionID`, whose message says which rule is broken and where.
    public init(validating text: String) throws(DatabaseError) {
        guard text.utf8.count <= 19 + 1 + 2 * RevisionDigest.lengths.upperBound else {
            throw Self.invalid(text, "it is \(text.utf8.count) bytes long, and the longest is 84")
        }
        let bytes = Array(text.utf8)
        guard let hyphen = bytes.firstIndex(of: UInt8(ascii: "-")) else {
            throw Self.invalid(text, "there is no hyphen between a generation and a digest")
        }
        self.init(
            generation: try Self.generation(bytes[..<hyphen], of: text),
            digest: try Self.digest(bytes[(hyphen + 1)...], of: text))
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

    private static func digest(
        _ digits: ArraySlice<UInt8>, of text: String
    ) throws(DatabaseError) -> RevisionDigest {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for (offset, digit) in digits.enumerated() {
            guard let value = hexValue(digit) else {
                throw invalid(text, "byte \(digits.startIndex + offset) is not a lowercase hexadecimal digit")
            }
            if offset.isMultiple(of: 2) {
                bytes.append(value << 4)
            } else {
                bytes[bytes.count - 1] |= value
            }
        }
        guard digits.count.isMultiple(of: 2), let digest = RevisionDigest(bytes) else {
            throw invalid(
                text, "the digest has \(digits.count) digits, and must have an even number from 2 to 64")
        }
        return digest
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
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
