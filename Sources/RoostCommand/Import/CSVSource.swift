import Roost

/// The records of a CSV file (RFC 4180) after its first, which names the properties.
///
/// Fields may stand in quotation marks, with doubled ones and ends of lines within. An empty field gives no property.
struct CSVSource: DocumentSource {
    /// What a field's text becomes.
    enum FieldType: String, CaseIterable {
        /// `true` and `false`; what is written like a JSON number of at most 15 digits; else text.
        case guess
        case text
        case number
        case bool
        /// JSON text, of any kind.
        case json
    }

    let reader: TextReader
    private let separator: UInt8
    private let columns: [(name: String, type: FieldType)]

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - separator: What stands between fields; `nil` for the one of comma, semicolon and tab that the header has most of.
    ///   - types: By the names of columns; what is not named is guessed.
    ///   - idField: the column with the documents' IDs, which are text unless `types` says otherwise.
    init(_ reader: TextReader, separator: UInt8?, types: NamedValues<FieldType>, idField: String) throws {
        self.reader = reader
        let (line, column) = (reader.line, reader.column)
        guard let header = try Self.headerSeparator(reader, separator) else {
            throw CommandFailure("The file is empty; its first line should name the columns.")
        }
        self.separator = header.separator
        columns = try header.names.map { name in
            guard !name.isEmpty else {
                throw CommandFailure("Line \(line), column \(column): a column has no name.")
            }
            return (name, types[name] ?? (ByteKey(name) == ByteKey(idField) ? .text : .guess))
        }
        let names = Set(header.names.map { ByteKey($0) })
        guard names.count == header.names.count else {
            throw CommandFailure("Line \(line): two columns have the same name.")
        }
        if let unknown = types.keys.first(where: { !names.contains(ByteKey($0)) }) {
            throw CommandFailure(
                "There is no column \"\(unknown)\"; the file has \(header.names.joined(separator: ", ")).")
        }
    }

    mutating func next() throws -> ImportedDocument? {
        while true {
            let line = reader.line
            guard let fields = try Self.record(reader, separator) else { return nil }
            // A line of spaces is none.
            if fields.count == 1, fields[0].text.allSatisfy({ $0 == 32 }), !fields[0].isQuoted { continue }
            guard fields.count <= columns.count else {
                throw CommandFailure(
                    "Line \(line): \(fields.count) fields where the first line names \(columns.count) columns."
                )
            }
            var json = Array("{".utf8)
            for (field, column) in zip(fields, columns) where !field.text.isEmpty || field.isQuoted {
                if json.count > 1 { json += ",".utf8 }
                json += JSONObject.quoted(column.name).utf8
                json += ":".utf8
                json += try value(field, column.type, column.name, line)
            }
            return ImportedDocument(json: (json + "}".utf8)[...], line: line)
        }
    }

    // MARK: Values

    private func value(_ field: Field, _ type: FieldType, _ name: String, _ line: Int) throws -> [UInt8] {
        let text = field.text
        switch type {
        case .guess:
            let isBare =
                !field.isQuoted
                && (text == Array("true".utf8) || text == Array("false".utf8) || isNumber(text))
            return try isBare ? text : quoted(text, line)
        case .text: return try quoted(text, line)
        case .number where Self.isJSONNumber(text), .json: return text
        case .bool where [Array("true".utf8), Array("1".utf8)].contains(text): return Array("true".utf8)
        case .bool where [Array("false".utf8), Array("0".utf8)].contains(text): return Array("false".utf8)
        case .number, .bool:
            let shown = String(decoding: text.prefix(40), as: UTF8.self)
            throw CommandFailure(
                "Line \(line): \"\(shown)\" in the column \"\(name)\" is no \(type.rawValue).")
        }
    }

    private func quoted(_ text: [UInt8], _ line: Int) throws -> [UInt8] {
        guard let string = String(validating: text, as: UTF8.self) else {
            throw CommandFailure(
                "Line \(line): a field is not well-formed UTF-8. Convert the file first, with iconv for one.")
        }
        return Array(JSONObject.quoted(string).utf8)
    }

    /// Whether a field is a number that loses nothing by becoming one.
    private func isNumber(_ text: [UInt8]) -> Bool {
        text.count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } <= 15 && Self.isJSONNumber(text)
    }

    /// Whether `text` is a number as RFC 8259 writes it.
    private static func isJSONNumber(_ text: [UInt8]) -> Bool {
        String(decoding: text, as: UTF8.self).wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/)
            != nil
    }

    // MARK: Records

    private struct Field {
        var text: [UInt8] = []
        var isQuoted = false
    }

    /// The names in the first record, and what stands between them.
    private static func headerSeparator(
        _ reader: TextReader, _ given: UInt8?
    ) throws -> (names: [String], separator: UInt8)? {
        let candidates: [UInt8] = given.map { [$0] } ?? [UInt8(ascii: ","), UInt8(ascii: ";"), 9]
        // The whole first record as one field, its quotation marks kept.
        guard let header = try rawRecord(reader) else { return nil }
        var best: (fields: [Field], separator: UInt8)?
        for separator in candidates {
            var rest = header[...]
            let fields = try record(separator, line: 1, peek: { rest.first }, next: { rest.popFirst() }) ?? []
            if fields.count > best?.fields.count ?? 0 { best = (fields, separator) }
        }
        guard let best else { return nil }
        return (best.fields.map { String(decoding: $0.text, as: UTF8.self) }, best.separator)
    }

    /// The bytes of the next record up to the end of its line, which may stand between quotation marks.
    private static func rawRecord(_ reader: TextReader) throws -> [UInt8]? {
        guard try reader.peekPastSpace() != nil else { return nil }
        var bytes: [UInt8] = []
        var isQuoted = false
        while let byte = try reader.next() {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            bytes.append(byte)
            if byte == UInt8(ascii: "\n"), !isQuoted { break }
            guard bytes.count < 1 << 20 else {
                throw CommandFailure("The first line, which should name the columns, is too long.")
            }
        }
        return bytes
    }

    private static func record(_ reader: TextReader, _ separator: UInt8) throws -> [Field]? {
        try record(separator, line: reader.line, peek: { try reader.peek() }, next: { try reader.next() })
    }

    /// The fields of the next record; `nil` at the end.
    private static func record(
        _ separator: UInt8, line: Int, peek: () throws -> UInt8?, next: () throws -> UInt8?
    ) throws -> [Field]? {
        guard try peek() != nil else { return nil }
        var fields = [Field()]
        var (isInQuotes, size) = (false, 0)
        while let byte = try next() {
            size += 1
            guard size <= TextReader.longestLine else {
                throw CommandFailure(
                    "The record that begins in line \(line) is larger than a document can be.")
            }
            let last = fields.count - 1
            if isInQuotes {
                if byte != UInt8(ascii: "\"") {
                    fields[last].text.append(byte)
                } else if try peek() == UInt8(ascii: "\"") {
                    fields[last].text.append(byte)
                    _ = try next()
                } else {
                    isInQuotes = false
                }
            } else if byte == UInt8(ascii: "\""), fields[last].text.isEmpty, !fields[last].isQuoted {
                isInQuotes = true
                fields[last].isQuoted = true
            } else if byte == separator {
                fields.append(Field())
            } else if byte == UInt8(ascii: "\n") {
                return fields
            } else if byte == UInt8(ascii: "\r"), try peek() ?? UInt8(ascii: "\n") == UInt8(ascii: "\n") {
                continue
            } else {
                fields[last].text.append(byte)
            }
        }
        guard !isInQuotes else {
            throw CommandFailure(
                "A quotation mark in the record that begins in line \(line) is never closed.")
        }
        return fields
    }
}
