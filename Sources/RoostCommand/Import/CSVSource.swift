import Roost

/// The records of a CSV file after its first, which names the properties, as documents. An empty field gives no property.
struct CSVSource: DocumentSource {
    private struct Column {
        let name: String
        /// `,"name":`.
        let nextKey: ArraySlice<UInt8>
        var type: ColumnType
    }

    private let records: CSVReader
    private var columns: [Column] = []
    private var hasEnded = false
    /// The column that has the IDs because those of the documents that are there have them from it.
    let usedKey: String?

    var reader: TextReader { records.reader }

    /// Reads the first record, and where a column's type is not given the whole file once.
    ///
    /// - Parameters:
    ///   - separator: What is between fields; `nil` for the one of comma, semicolon and tab that the header has most of.
    ///   - types: By the names of columns; that of any other is found from all its fields.
    ///   - idField: the column with the documents' IDs, which are text unless `types` says otherwise.
    ///   - knownKey: the column that has them where there is none of the name `idField`.
    init(
        _ reader: TextReader, separator: UInt8?, types: NamedValues<ColumnType>, idField: String,
        knownKey: String? = nil
    ) throws {
        records = try CSVReader(reader, separator: separator)
        let names = records.names
        let known = Set(names.map { ByteKey($0) })
        usedKey = knownKey.flatMap {
            known.contains(ByteKey($0)) && !known.contains(ByteKey(idField)) ? $0 : nil
        }
        if let unknown = types.keys.first(where: { !known.contains(ByteKey($0)) }) {
            throw CommandFailure(
                "There is no column \"\(unknown)\"; the file has \(names.joined(separator: ", ")).")
        }
        let given = names.map { types[$0] ?? (ByteKey($0) == ByteKey(usedKey ?? idField) ? .text : nil) }
        let found = try foundTypes(given)
        columns = names.indices.map { index in
            Column(
                name: names[index], nextKey: Array(",\(JSONObject.quoted(names[index])):".utf8)[...],
                type: given[index] ?? found[index])
        }
    }

    /// The types of all columns, found from the file; whatever for those that are given.
    private func foundTypes(_ given: [ColumnType?]) throws -> [ColumnType] {
        var finders = given.map { _ in ColumnTypeFinder() }
        var open = given.indices.filter { given[$0] == nil }
        guard !open.isEmpty else { return finders.map(\.type) }
        while !open.isEmpty, try records.next() {
            guard records.problem() == nil else { continue }
            let count = records.fields.count
            for index in open where index < count {
                finders[index].add(records.bytes(of: index), isQuoted: records.fields[index].isQuoted)
            }
            open.removeAll { finders[$0].isSettled }
        }
        try records.rewind()
        return finders.map(\.type)
    }

    mutating func next() throws -> ImportedText? {
        guard !hasEnded, try records.next() else { return nil }
        if let problem = records.problem() {
            // What follows an open quotation mark is a part of the record.
            hasEnded = records.isUnclosed
            return .unusable(problem)
        }
        var json: [UInt8] = [UInt8(ascii: "{")]
        for (index, field) in records.fields.enumerated() {
            let bytes = records.bytes(of: index)
            guard !bytes.isEmpty else { continue }
            let column = columns[index]
            let content = field.isQuoted ? CSVScanner.content(of: bytes)[...] : bytes
            if column.type == .text {
                json += json.count > 1 ? column.nextKey : column.nextKey.dropFirst()
                json.append(jsonString: content)
                continue
            }
            guard !content.isEmpty else { continue }
            guard let value = column.type.json(content) else {
                let shown = String(decoding: content.prefix(40), as: UTF8.self)
                return .unusable(
                    "Line \(records.line): \"\(shown)\" in the column \"\(column.name)\" is no \(column.type.rawValue)."
                )
            }
            json += json.count > 1 ? column.nextKey : column.nextKey.dropFirst()
            json += value
        }
        json.append(UInt8(ascii: "}"))
        return .document(json[...], line: records.line, column: 1)
    }
}

extension [UInt8] {
    /// Appends well-formed UTF-8 as a JSON string.
    fileprivate mutating func append(jsonString text: ArraySlice<UInt8>) {
        append(UInt8(ascii: "\""))
        var plain = text.startIndex
        for place in text.indices {
            let byte = text[place]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            self += text[plain..<place]
            plain = place + 1
            if byte >= 0x20 {
                self += [UInt8(ascii: "\\"), byte]
            } else {
                let digits = "0123456789abcdef".utf8.map(\.self)
                self += "\\u00".utf8
                self += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        self += text[plain...]
        append(UInt8(ascii: "\""))
    }
}
