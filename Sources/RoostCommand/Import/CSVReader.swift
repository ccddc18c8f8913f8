import Roost

/// The records of a CSV file, one after the other, after the first, which names the columns.
final class CSVReader {
    let reader: TextReader
    /// The names in the first record.
    private(set) var names: [String] = []
    private var scanner: CSVScanner
    private var record: ArraySlice<UInt8> = []
    /// The line that the record begins in, counted from 1.
    private(set) var line = 1
    private var nextLine = 1

    var fields: [CSVScanner.Field] { scanner.fields }
    /// Whether a quotation mark of the record is never closed.
    var isUnclosed: Bool { scanner.isUnclosed }

    /// Reads the first record.
    ///
    /// - Parameter separator: What is between fields; `nil` for the one of comma, semicolon and tab that the first record has most of.
    init(_ reader: TextReader, separator: UInt8?) throws {
        self.reader = reader
        scanner = CSVScanner(separator: UInt8(ascii: ","), endsAtUnicode: true)
        try readNames(separator)
    }

    /// Begins again after the first record.
    func rewind() throws {
        try reader.rewind()
        (line, nextLine) = (1, 1)
        try readNames(scanner.separator)
    }

    private func readNames(_ separator: UInt8?) throws {
        guard try reader.peekPastSpace() != nil else {
            throw CommandFailure("The file is empty; its first line should name the columns.")
        }
        nextLine = reader.line
        let candidates = separator.map { [$0] } ?? [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        var scanners = candidates.map { CSVScanner(separator: $0, endsAtUnicode: true) }
        var best = 0
        var lengths = scanners.map { _ in Int?.none }
        record = unsafe try reader.take(limit: 1 << 20) { bytes, isLast in
            for index in scanners.indices where lengths[index] == nil {
                lengths[index] = unsafe scanners[index].scan(bytes, isLast: isLast)
                if lengths[index] == nil { return nil }
            }
            best = scanners.indices.reduce(0) {
                scanners[$1].fields.count > scanners[$0].fields.count ? $1 : $0
            }
            return lengths[best]
        }
        scanner = scanners[best]
        line = nextLine
        guard !isUnclosed else { throw CommandFailure(unclosed) }
        nextLine += scanner.lines
        names = try fields.indices.map { index in
            guard let name = String(validating: content(of: index), as: UTF8.self) else {
                throw CommandFailure("Line \(line): \(notUTF8)")
            }
            guard !name.isEmpty else {
                throw CommandFailure("Line \(line): column \(index + 1) has no name.")
            }
            return name
        }
        guard Set(names.map { ByteKey($0) }).count == names.count else {
            throw CommandFailure("Line \(line): two columns have the same name.")
        }
        scanner = CSVScanner(separator: scanner.separator, endsAtUnicode: scanner.hasUnicodeEnd)
    }

    /// Reads the next record; `false` at the end. Lines of spaces are passed over.
    func next() throws -> Bool {
        repeat {
            scanner.reset()
            record = []
            var hasMore = false
            record = unsafe try reader.take(limit: TextReader.longestLine) { [self] bytes, isLast in
                hasMore = !bytes.isEmpty
                return unsafe scanner.scan(bytes, isLast: isLast)
            }
            guard hasMore else { return false }
            line = nextLine
            nextLine += scanner.lines
        } while isBlank
        return true
    }

    private var isBlank: Bool {
        fields.count == 1 && !fields[0].isQuoted && bytes(of: 0).allSatisfy { $0 == UInt8(ascii: " ") }
    }

    /// The bytes of a field as they are in the file.
    func bytes(of index: Int) -> ArraySlice<UInt8> {
        record[record.startIndex + fields[index].start..<record.startIndex + fields[index].end]
    }

    /// What a field says.
    func content(of index: Int) -> [UInt8] {
        fields[index].isQuoted ? CSVScanner.content(of: bytes(of: index)) : Array(bytes(of: index))
    }

    /// Why the record can't become a document, whatever its columns are; `nil` where it can.
    func problem() -> String? {
        if isUnclosed { return unclosed }
        if fields.count > names.count {
            return
                "Line \(line): \(Count.text(fields.count, "field")) where the first line names \(Count.text(names.count, "column"))."
        }
        let isText = record.allSatisfy { $0 < 0x80 } || String(validating: record, as: UTF8.self) != nil
        return isText ? nil : "Line \(line): \(notUTF8)"
    }

    private var unclosed: String {
        "A quotation mark in the record that begins in line \(line) is never closed."
    }

    private var notUTF8: String {
        "a field is not well-formed UTF-8. Convert the file first, with iconv for one."
    }
}
