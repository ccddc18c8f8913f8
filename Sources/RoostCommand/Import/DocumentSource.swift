import Fleece

/// Where an import gets its documents from, one after the other.
protocol DocumentSource {
    /// What reads the file.
    var reader: TextReader { get }

    /// The property that has the IDs because those of the documents that are there have them from it; `nil` where documents say
    /// their IDs themselves.
    var usedKey: String? { get }

    /// The next document; `nil` after the last.
    ///
    /// - Throws: ``CommandFailure`` when what follows can't be told apart any more.
    mutating func next() throws -> ImportedText?
}

extension DocumentSource {
    var usedKey: String? { nil }
}

/// A source of JSON of which the first document has been looked at, to see whether it has its ID in another property than `_id`.
struct ExaminedSource: DocumentSource {
    private var source: any DocumentSource
    private var first: Result<ImportedText?, any Error>?
    let usedKey: String?

    var reader: TextReader { source.reader }

    /// - Parameter knownKey: The property that has the IDs of the documents that are there.
    init(_ source: any DocumentSource, knownKey: String) {
        var source = source
        let first = Result { try source.next() }
        self.source = source
        self.first = first
        guard case .success(.document(let text, _, _)) = first,
            let document = try? FleeceDocument(json: Array(text)), document.root.kind == .dictionary,
            !document["_id"].exists, document[knownKey].string != nil || document[knownKey].int != nil
        else {
            usedKey = nil
            return
        }
        usedKey = knownKey
    }

    mutating func next() throws -> ImportedText? {
        if let first = first.take() { return try first.get() }
        return try source.next()
    }
}

/// What a source finds in its file.
enum ImportedText {
    /// The JSON text of a document, and the line and the column where it begins, counted from 1, the column in bytes.
    case document(ArraySlice<UInt8>, line: Int, column: Int)
    /// Something that can't become a document, and why, with its place. What follows can.
    case unusable(String)
}

/// One JSON object a line. Lines of spaces are passed over.
struct LineSource: DocumentSource {
    let reader: TextReader

    mutating func next() throws -> ImportedText? {
        while true {
            let (line, column) = (reader.line, reader.column)
            guard let text = try reader.nextLine() else { return nil }
            if text.contains(where: { $0 != 32 && $0 != 9 && $0 != 13 }) {
                return .document(text, line: line, column: column)
            }
        }
    }
}

/// The elements of one JSON array.
///
/// Only looks for where elements end; what they are is for the JSON parser.
struct ArraySource: DocumentSource {
    let reader: TextReader
    private var hasBegun = false
    private var hasEnded = false

    init(reader: TextReader) { self.reader = reader }

    mutating func next() throws -> ImportedText? {
        guard !hasEnded else { return nil }
        var byte = try reader.peekPastSpace()
        if !hasBegun {
            guard byte == UInt8(ascii: "[") else { throw unexpected("an array, which begins with [,") }
            hasBegun = true
            _ = try reader.next()
            byte = try reader.peekPastSpace()
            if byte == UInt8(ascii: "]") { return try end() }
        }
        let (line, column) = (reader.line, reader.column)
        var element: [UInt8] = []
        var (depth, isInString, isEscaped) = (0, false, false)
        while let byte = try reader.peek() {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
                if byte == UInt8(ascii: "]") { _ = try end() } else { _ = try reader.next() }
                return .document(element[...], line: line, column: column)
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
            element.append(byte)
            guard element.count <= TextReader.longestLine else {
                throw CommandFailure(
                    "The element that begins in line \(line) is larger than a document can be.")
            }
            _ = try reader.next()
        }
        throw unexpected("the end of the array, ],")
    }

    /// Goes past the end of the array, behind which nothing may stand.
    private mutating func end() throws -> ImportedText? {
        hasEnded = true
        _ = try reader.next()
        guard try reader.peekPastSpace() == nil else { throw unexpected("the end of the file") }
        return nil
    }

    private func unexpected(_ expected: String) -> CommandFailure {
        CommandFailure("Line \(reader.line), column \(reader.column): \(expected) is expected here.")
    }
}
