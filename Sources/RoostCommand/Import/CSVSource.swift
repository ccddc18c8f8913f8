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

// MARK: - ColumnType

/// What the fields of a column of a CSV file become.
enum ColumnType: String {
    case text, number, bool
    /// JSON text, of any kind.
    case json

    /// What makes a value of a field that has this type; `nil` where it can't be one.
    func json(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        switch self {
        case .text: return nil
        case .number: return FieldText.isNumber(field) ? field : nil
        case .json:
            return (try? DocumentValue(json: String(decoding: field, as: UTF8.self))).map { _ in field }
        case .bool:
            if field.elementsEqual("true".utf8) || field.elementsEqual("1".utf8) {
                return Array("true".utf8)[...]
            }
            if field.elementsEqual("false".utf8) || field.elementsEqual("0".utf8) {
                return Array("false".utf8)[...]
            }
            return nil
        }
    }
}

/// Finds the type of a column from all of its fields.
///
/// It is `bool` where every field is `true` or `false`, `number` where every one is a number that loses nothing by becoming one, and
/// `text` otherwise: a code or a date among numbers, or a field in quotation marks, makes text of them all. Empty fields say nothing.
struct ColumnTypeFinder {
    private var mayBeNumber = true
    private var mayBeBool = true
    private var hasFields = false

    /// Whether no further field can make a difference.
    var isSettled: Bool { !mayBeNumber && !mayBeBool }

    var type: ColumnType {
        guard hasFields else { return .text }
        return mayBeBool ? .bool : mayBeNumber ? .number : .text
    }

    /// Takes the next field into account, as it is in the file.
    mutating func add(_ field: ArraySlice<UInt8>, isQuoted: Bool) {
        guard !field.isEmpty, !isSettled else { return }
        hasFields = true
        if mayBeNumber { mayBeNumber = !isQuoted && FieldText.isLosslessNumber(field) }
        if mayBeBool { mayBeBool = !isQuoted && FieldText.isBool(field) }
    }
}

/// What the text of a field looks like.
enum FieldText {
    /// Doubles keep as many digits of any number.
    private static let mostDigits = 15

    static func isBool(_ text: ArraySlice<UInt8>) -> Bool {
        text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8)
    }

    /// Whether `text` is a number as RFC 8259 writes it.
    static func isNumber(_ text: ArraySlice<UInt8>) -> Bool { parts(of: text) != nil }

    /// Whether `text` is a number that loses nothing by becoming one: of at most 15 digits, and no code that looks like one, as
    /// 1e2641 and 655e38 do. Programs that write exponents give them a sign, or the number a point.
    static func isLosslessNumber(_ text: ArraySlice<UInt8>) -> Bool {
        guard let parts = parts(of: text), parts.digits <= mostDigits else { return false }
        guard parts.hasExponent else { return true }
        guard parts.hasPoint || parts.hasSignedExponent,
            let value = Double(String(decoding: text, as: UTF8.self))
        else { return false }
        return value.isFinite && (value != 0 || parts.isZero)
    }

    private struct Parts {
        var digits = 0
        var isZero = true
        var hasPoint = false
        var hasExponent = false
        var hasSignedExponent = false
    }

    /// The parts of a number; `nil` for what is none.
    private static func parts(of text: ArraySlice<UInt8>) -> Parts? {
        var parts = Parts()
        var place = text.startIndex
        func next() -> UInt8 { place < text.endIndex ? text[place] : 0 }
        func takeDigits() -> Int {
            let start = place
            while next() &- UInt8(ascii: "0") < 10 {
                if text[place] != UInt8(ascii: "0") { parts.isZero = false }
                place += 1
            }
            return place - start
        }
        if next() == UInt8(ascii: "-") { place += 1 }
        let startsWithZero = next() == UInt8(ascii: "0")
        parts.digits = takeDigits()
        guard parts.digits == 1 || parts.digits > 0 && !startsWithZero else { return nil }
        if next() == UInt8(ascii: ".") {
            place += 1
            parts.hasPoint = true
            let fraction = takeDigits()
            guard fraction > 0 else { return nil }
            parts.digits += fraction
        }
        if next() | 0x20 == UInt8(ascii: "e") {
            let isZero = parts.isZero
            place += 1
            parts.hasExponent = true
            if next() == UInt8(ascii: "-") || next() == UInt8(ascii: "+") {
                place += 1
                parts.hasSignedExponent = true
            }
            guard takeDigits() > 0 else { return nil }
            parts.isZero = isZero
        }
        return place == text.endIndex ? parts : nil
    }
}
