import Fleece

/// The body of `_bulk_docs` as it came, taken apart only as far as to find each document in it: documents are parsed some at a time,
/// and are never all in memory together with the text.
struct BulkText {
    /// The value of `docs`, where there is one.
    enum Documents {
        case missing
        case noArray
        /// The offset of each document in the text, and that of the end of the list.
        case array([Int], end: Int)
    }

    private let text: [UInt8]
    private(set) var documents = Documents.missing
    /// The members besides `docs`.
    private(set) var options: [String: FleeceDocument] = [:]

    /// Finds the documents. They are not parsed: what is wrong with one shows when it is. O(n).
    ///
    /// - Throws: 400 for what is no JSON object.
    init(_ text: [UInt8]) throws {
        self.text = text
        var index = 0
        skipSpace(&index)
        guard byte(index) == UInt8(ascii: "{") else {
            // Said in the words for JSON that is broken, where it is.
            _ = try FleeceText.parse(text)
            throw HTTPFailure.badRequest("Request body must be a JSON object")
        }
        var (documents, options) = (documents, options)
        try forEachMember(&index) { name, index in
            if name == "docs" {
                documents = try readDocuments(&index)
            } else {
                let start = index
                try skipValue(&index)
                options[name] = try FleeceText.parse(text[start..<index])
            }
        }
        (self.documents, self.options) = (documents, options)
        skipSpace(&index)
        guard index == text.count else { throw Self.malformed(index) }
    }

    /// A document at one of the places in ``documents`` that can't be parsed, without the members in which that is.
    func readable(at start: Int) throws -> FleeceDocument {
        var (index, members) = (start, [(String, JSON)]())
        guard byte(index) == UInt8(ascii: "{") else { throw Self.malformed(index) }
        try forEachMember(&index) { name, index in
            let start = index
            try skipValue(&index)
            if let value = try? FleeceText.parse(text[start..<index]) {
                members.append((name, .text(value.root.jsonBytes())))
            }
        }
        return try FleeceText.parse(JSON.object(members).bytes)
    }

    /// The document at one of the places in ``documents``.
    ///
    /// - Parameter next: The place of the next one, or the end of the list.
    func document(at start: Int, before next: Int) throws -> FleeceDocument {
        var end = next
        while end > start, isSeparator(text[end - 1]) { end -= 1 }
        return try FleeceText.parse(text[start..<end])
    }

    private func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), 0x20, 10, 13, 9: true
        default: false
        }
    }

    /// How many bytes the text has.
    var length: Int { text.count }

    /// How many bytes there are from one place to another, or to the end.
    func length(from start: Int, to end: Int?) -> Int { (end ?? text.count) - start }

    // MARK: Finding

    /// Passes over an object, and calls `body` with the name of each member and the place of its value, which it passes over.
    private func forEachMember(_ index: inout Int, _ body: (String, inout Int) throws -> Void) throws {
        index += 1
        skipSpace(&index)
        guard byte(index) != UInt8(ascii: "}") else {
            index += 1
            return
        }
        while true {
            skipSpace(&index)
            guard byte(index) == UInt8(ascii: "\"") else { throw Self.malformed(index) }
            var end = index
            try skipValue(&end)
            guard let name = try FleeceText.parse(text[index..<end]).root.string else {
                throw Self.malformed(index)
            }
            index = end
            skipSpace(&index)
            guard byte(index) == UInt8(ascii: ":") else { throw Self.malformed(index) }
            index += 1
            skipSpace(&index)
            try body(name, &index)
            skipSpace(&index)
            index += 1
            switch byte(index - 1) {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "}"): return
            default: throw Self.malformed(index - 1)
            }
        }
    }

    private func readDocuments(_ index: inout Int) throws -> Documents {
        let start = index
        guard byte(index) == UInt8(ascii: "[") else {
            try skipValue(&index)
            _ = try FleeceText.parse(text[start..<index])
            return .noArray
        }
        index += 1
        skipSpace(&index)
        guard byte(index) != UInt8(ascii: "]") else {
            index += 1
            return .array([], end: index - 1)
        }
        var places: [Int] = []
        while true {
            skipSpace(&index)
            places.append(index)
            try skipValue(&index)
            skipSpace(&index)
            index += 1
            switch byte(index - 1) {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "]"): return .array(places, end: index - 1)
            default: throw Self.malformed(index - 1)
            }
        }
    }

    /// The byte at a place; 0, which JSON has not, beyond the end.
    private func byte(_ index: Int) -> UInt8 { index < text.count ? text[index] : 0 }

    private func skipSpace(_ index: inout Int) {
        while index < text.count,
            text[index] == 0x20 || text[index] == 10 || text[index] == 13 || text[index] == 9
        {
            index += 1
        }
    }

    /// Skips a value: everything between matching brackets, or up to the next separator. Parsing shows whether it is JSON.
    private func skipValue(_ index: inout Int) throws {
        let start = index
        var depth = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                index += 1
                while index < text.count, text[index] != UInt8(ascii: "\"") {
                    index += text[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard index < text.count else { throw Self.malformed(start) }
                index += 1
                if depth == 0 { return }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return }
                depth -= 1
                index += 1
                if depth == 0 { return }
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 10, 13, 9:
                if depth == 0 { return }
                index += 1
            default: index += 1
            }
        }
        guard depth == 0, index > start else { throw Self.malformed(start) }
    }

    private static func malformed(_ index: Int) -> HTTPFailure {
        .badRequest("invalid UTF-8 JSON: something else was expected at byte \(index + 1)")
    }
}
