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
