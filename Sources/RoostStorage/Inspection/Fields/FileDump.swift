import RoostBytes
import RoostFile

/// Shows what stands where in a store's file, field by field, damaged or not: a hex editor that understands the format.
///
/// Takes no lock and writes nothing. Memory: the largest chunk that is shown.
package final class FileDump {
    let file: DataFile
    let size: UInt64

    /// Opens the file at `path`; the key, where it needs one, comes with `options`.
    ///
    /// - Throws: ``StoreError/Code/damaged`` when both headers are lost: the salt in them is what tells chunks from other
    ///   bytes. ``header(of:environment:)`` shows what is left of them.
    package convenience init(_ path: String, options: StoreOptions = StoreOptions()) throws(StoreError) {
        try self.init(path, options: options, environment: .system)
    }

    init(_ path: String, options: StoreOptions, environment: Environment) throws(StoreError) {
        var options = options
        options.cacheSize = StoreCheck.cacheLimit
        file = try StoreOpener(path: path, options: options, environment: environment).openFile(.readOnly)
        file.writtenEnd.store(StoreOpener.replayedStart, ordering: .releasing)
        let file = file.file
        size = try fileCall { () throws(FileError) in try file.size() }
    }

    /// The file header and its copy, whatever they look like.
    package static func header(of path: String) throws(StoreError) -> [FileSection] {
        try header(of: path, environment: .system)
    }

    static func header(of path: String, environment: Environment) throws(StoreError) -> [FileSection] {
        let file = try fileCall { () throws(FileError) in try environment.medium.open(path, .readOnly) }
        let bytes = ByteBuffer(capacity: 2 * Format.blockSize)
        bytes.resize(to: 2 * Format.blockSize)
        let count = try fileCall { () throws(FileError) in
            unsafe try file.readFully(into: bytes.mutableBytes, at: 0)
        }
        bytes.resize(to: count)
        let block = UInt64(Format.blockSize)
        var first = section("File header", bytes.view.slice(0, min(count, Format.blockSize)), at: 0) {
            (fields) throws(MalformedBytes) in try fields.readHeader()
        }
        note(bytes.view.slice(0, min(count, Format.blockSize)), in: &first)
        guard count == 2 * Format.blockSize else {
            first.problems.append("The file ends before the copy of the header does.")
            return [first]
        }
        let copy = bytes.view.slice(Format.blockSize, Format.blockSize)
        if bytes.view.slice(0, Format.blockSize).compare(copy) == 0 {
            var second = FileSection(title: "Copy of the file header", range: block..<2 * block)
            second.fields = [
                FileField(
                    offset: block, length: Format.blockSize,
                    bytes: copy.slice(0, FileField.shownLength).array,
                    meaning: "the file header once more", isDecoded: false)
            ]
            return [first, second]
        }
        var second = section("Copy of the file header", copy, at: block) {
            (fields) throws(MalformedBytes) in try fields.readHeader()
        }
        note(copy, in: &second)
        second.problems.append("It differs from the file header.")
        return [first, second]
    }

    private static func note(_ block: ByteView, in section: inout FileSection) {
        do throws(FileHeader.Refusal) {
            _ = try FileHeader(decoding: block)
        } catch {
            section.problems.append(
                error == .damaged ? "Its checksum is wrong." : "It is no header that this Roost can use.")
        }
    }

    /// Reads fields; where the bytes make no sense, says so behind what could be read.
    static func section(
        _ title: String, _ bytes: ByteView, at offset: UInt64,
        _ body: (FieldReader) throws(MalformedBytes) -> Void
    ) -> FileSection {
        var section = FileSection(title: title, range: offset..<offset + UInt64(bytes.count))
        let fields = FieldReader(bytes, at: offset)
        do throws(MalformedBytes) {
            try body(fields)
        } catch {
            section.problems.append("From byte \(error.offset) of it on nothing can be made of it.")
        }
        section.fields = fields.fields.sorted { ($0.offset, $0.length) < ($1.offset, $1.length) }
        return section
    }

    /// The bytes of a part of the file, without a meaning.
    func raw(_ title: String, _ range: Range<UInt64>, problem: String?) throws(StoreError) -> FileSection {
        let shown = min(range.upperBound - range.lowerBound, UInt64(FileDump.mostRawBytes))
        let bytes = try read(range.lowerBound..<range.lowerBound + shown)
        var section = FileSection(title: title, range: range)
        section.fields = bytes.withView { FileDump.rows($0, at: range.lowerBound, isDecoded: false) }
        if let problem { section.problems.append(problem) }
        return section
    }

    /// The first bytes in rows, as text where they are some.
    static func rows(_ bytes: ByteView, at offset: UInt64, isDecoded: Bool) -> [FileField] {
        stride(from: 0, to: min(bytes.count, mostRawBytes), by: FileField.shownLength).map { start in
            let part = bytes.slice(start, min(FileField.shownLength, bytes.count - start)).array
            return FileField(
                offset: offset + UInt64(start), length: part.count, bytes: part,
                meaning: FileField.quoted(part),
                isDecoded: isDecoded)
        }
    }

    private static let mostRawBytes = 1024

    /// Bytes of the file; fewer than asked for at its end.
    func read(_ range: Range<UInt64>) throws(StoreError) -> [UInt8] {
        let buffer = ByteBuffer(capacity: Int(range.upperBound - range.lowerBound))
        buffer.resize(to: Int(range.upperBound - range.lowerBound))
        let file = file.file
        let count = try fileCall { () throws(FileError) in
            unsafe try file.readFully(into: buffer.mutableBytes, at: range.lowerBound)
        }
        buffer.resize(to: count)
        return buffer.view.array
    }
}

// MARK: - FileField

/// Some bytes of a file and what they mean.
package struct FileField: Hashable, Sendable {
    /// Where they stand: in the file, or in the payload as it is after decryption and decompression.
    package let offset: UInt64
    /// How many they are.
    package let length: Int
    /// The first of them, at most ``shownLength``.
    package let bytes: [UInt8]
    /// What they mean, in the words of FileFormat.md.
    package let meaning: String
    /// What else there is to know, such as the whole key of an entry.
    package var note: String?
    /// Whether ``offset`` counts in a decoded payload.
    package let isDecoded: Bool

    /// The most bytes that a field keeps.
    package static let shownLength = 16
    /// Fields whose bytes are often text.
    private static let texts: Set = [
        "name", "rest of the key", "inline bytes", "prefix", "value", "rest of the suffix",
        "rest of the inline bytes",
    ]

    /// The field in a line: offset, bytes, meaning, as in FileFormat.md's worked example.
    package var line: String {
        var shown = bytes.map { FileField.hexadecimal(UInt64($0), width: 2) }.joined(separator: " ")
        var meaning = meaning
        if length > FileField.shownLength {
            shown += " … (\(length) bytes)"
        } else if FileField.texts.contains(meaning) {
            meaning += " \(FileField.quoted(bytes))"
        }
        let gap = String(repeating: " ", count: max(0, 23 - shown.count))
        let place = (isDecoded ? "+" : "") + FileField.hexadecimal(offset, width: isDecoded ? 5 : 6)
        return "\(place)  \(shown)\(gap)  \(meaning)" + (note.map { "  (\($0))" } ?? "")
    }

    /// `value` in hexadecimal, with zeros before it up to `width` digits.
    package static func hexadecimal(_ value: UInt64, width: Int = 1) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// `bytes` as text between quotation marks; what is not printable ASCII is escaped as in JSON.
    package static func quoted(_ bytes: some Sequence<UInt8>) -> String {
        var text = "\""
        for byte in bytes {
            switch byte {
            case 0x22, 0x5c: text += "\\" + String(UnicodeScalar(byte))
            case 0x08: text += "\\b"
            case 0x09: text += "\\t"
            case 0x0a: text += "\\n"
            case 0x0c: text += "\\f"
            case 0x0d: text += "\\r"
            case 0x20..<0x7f: text += String(UnicodeScalar(byte))
            case 0x80...: text += "\\ufffd"
            default: text += "\\u" + hexadecimal(UInt64(byte), width: 4)
            }
        }
        return text + "\""
    }
}

/// A part of a file, field by field.
package struct FileSection: Sendable {
    /// What it is, as a heading.
    package let title: String
    /// Where it is in the file.
    package let range: Range<UInt64>
    /// Its fields by their place.
    package var fields: [FileField] = []
    /// What is wrong with it, as sentences.
    package var problems: [String] = []
}

// MARK: - Commits

extension FileDump {
    /// A commit of the file: its number and kind, where it is, and its chunks if they were asked for.
    package struct CommitPart: Sendable {
        /// Its number.
        package let number: UInt64
        /// What it holds.
        package let kind: Commit.Kind
        /// Its first byte up to its record's first.
        package let range: Range<UInt64>
    }

    /// One thing in a commit.
    package struct Part: Sendable {
        /// What it is: `value`, `node`, `operations`, `directory`, `damage`.
        package let name: String
        /// Where it is.
        package let range: Range<UInt64>
    }

    /// All commits whose records can be read, newest first, until `body` returns `false`.
    package func forEachCommit(_ body: (CommitPart) throws(StoreError) -> Bool) throws(StoreError) {
        var end = size
        while let record = try LogScanner(file: file).nearestRecord(before: end), record.end <= end {
            file.noteHistory(of: record)
            let part = CommitPart(
                number: record.number, kind: Commit(record).kind, range: record.start..<record.offset)
            guard try body(part) else { return }
            end = record.start
        }
    }

    /// The commit with that number, the newest for `nil`; `nil` when no record of it can be read.
    package func commit(number: UInt64?) throws(StoreError) -> CommitPart? {
        var found: CommitPart?
        try forEachCommit { (commit) throws(StoreError) in
            if number == nil || commit.number == number { found = commit }
            return found == nil && commit.number > number ?? 0
        }
        return found
    }

    /// The chunks of a commit and what is damaged between them, in the order of the file.
    package func forEachPart(
        of commit: CommitPart, _ body: (Part) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var scan = ChunkScan(file: file, from: commit.range.lowerBound, to: commit.range.upperBound)
        while let item = try scan.next() {
            let part =
                switch item {
                case .chunk(let chunk, let kind):
                    Part(name: kind.content.name, range: chunk.offset..<chunk.end)
                case .damage(let range): Part(name: "damage", range: range)
                }
            guard try body(part) else { return }
        }
    }

    /// The record of a commit.
    package func record(of commit: CommitPart) throws(StoreError) -> FileSection {
        let start = commit.range.upperBound
        let bytes = try read(start..<start + UInt64(CommitRecord.size))
        return bytes.withView { bytes in
            FileDump.section("Record of commit \(commit.number)", bytes, at: start) {
                (fields) throws(MalformedBytes) in try fields.readRecord()
            }
        }
    }
}

// MARK: - Places

extension FileDump {
    /// What the byte at `offset` belongs to.
    ///
    /// - Throws: ``StoreError/Code/notFound`` for an offset behind the file's end.
    package func section(at offset: UInt64) throws(StoreError) -> FileSection {
        guard offset < size else {
            throw StoreError(
                .notFound, "\(file.path) has \(size) bytes, so there is nothing at offset \(offset).")
        }
        if offset < Format.firstCommit {
            let block = UInt64(Format.blockSize)
            let sections = try FileDump.header(of: file.path, environment: .system)
            return sections[min(Int(offset / block), sections.count - 1)]
        }
        guard let commit = try commit(around: offset) else {
            let start = offset / 16 * 16
            return try raw(
                "Bytes of no commit", start..<size,
                problem:
                    "No commit that can be read has them: they were prepared for coming commits, a crash left them, "
                    + "or they are damaged.")
        }
        if offset >= commit.range.upperBound { return try record(of: commit) }
        return try section(at: offset, in: commit)
    }

    private func section(at offset: UInt64, in commit: CommitPart) throws(StoreError) -> FileSection {
        var found: Part?
        try forEachPart(of: commit) { (part) throws(StoreError) in
            if part.range.contains(offset) { found = part }
            return part.range.upperBound <= offset
        }
        guard let found else {
            return try raw(
                "Zeros that fill commit \(commit.number)", offset..<commit.range.upperBound, problem: nil)
        }
        return try section(of: found, showsContent: true)
    }

    /// The commit whose bytes have `offset` among them: its record is the next, unless that is damaged.
    private func commit(around offset: UInt64) throws(StoreError) -> CommitPart? {
        let block = UInt64(Format.blockSize)
        var end = (offset / block + 1) * block
        while end <= size {
            if let record = try LogScanner(file: file).record(at: end - UInt64(CommitRecord.size)) {
                guard record.start <= offset, record.kind != .barrier else { return nil }
                return CommitPart(
                    number: record.number, kind: Commit(record).kind, range: record.start..<record.offset)
            }
            end += block
        }
        return nil
    }

    /// A part of a commit, field by field.
    ///
    /// - Parameter showsContent: shows more of a value than its first bytes.
    package func section(of part: Part, showsContent: Bool = false) throws(StoreError) -> FileSection {
        let bytes = try read(part.range)
        let offset = part.range.lowerBound
        guard part.name != "damage", let shape = bytes.withView({ ChunkCodec.shape(of: $0) }) else {
            return try raw(
                "Damaged bytes", part.range, problem: "No chunk begins here, or one whose checksum is wrong.")
        }
        let chunk = ChunkReference(offset: offset, length: UInt32(truncatingIfNeeded: bytes.count))
        return bytes.withView { chunkSection($0, shape.kind, chunk, showsContent) }
    }

    private func chunkSection(
        _ bytes: ByteView, _ kind: ChunkKind, _ chunk: ChunkReference, _ showsContent: Bool
    ) -> FileSection {
        // `nil` where only the fields of the decoded payload can be shown.
        let shown = ChunkCodec.storedForm(bytes)
        var section = FileDump.section("Chunk: \(kind)", bytes, at: chunk.offset) {
            (fields) throws(MalformedBytes) in
            try fields.number(4, "checksum of a chunk", FieldText.hexadecimal)
            try fields.number(1, "kind and flags") { FieldText.hexadecimal($0) + ", \(kind)" }
            try fields.varint("length of the payload")
            if let shown { return try fields.readPayload(kind, shown, of: chunk) }
            try fields.raw(fields.end - fields.position, "payload as it is stored, compressed or encrypted")
        }
        var scratch: ByteBuffer?
        do {
            let (payload, form) = try file.codec.stored(in: bytes, kind, at: chunk, scratch: &scratch)
            withExtendedLifetime(scratch) {
                if shown == nil { add(payload, kind, form, chunk, to: &section) }
                if showsContent, kind == .value {
                    section.fields += FileDump.rows(payload, at: 0, isDecoded: true)
                }
            }
        } catch {
            section.problems.append("It has \(error.reason).")
        }
        return section
    }

    /// Adds the fields of a payload that had to be decoded.
    private func add(
        _ payload: ByteView, _ kind: ChunkKind, _ form: ChunkCodec.Form, _ chunk: ChunkReference,
        to section: inout FileSection
    ) {
        let fields = FieldReader(payload, at: 0, isDecoded: true)
        do throws(MalformedBytes) {
            try fields.readPayload(kind, form, of: chunk)
        } catch {
            section.problems.append("From byte \(error.offset) of its payload on nothing can be made of it.")
        }
        section.fields += fields.fields.sorted { ($0.offset, $0.length) < ($1.offset, $1.length) }
    }
}
