import RoostBytes

/// Reads bytes front to back and notes what each field means; what was read before damage is kept.
final class FieldReader {
    private let bytes: ByteView
    private let base: UInt64
    private let isDecoded: Bool
    private(set) var fields: [FileField] = []
    /// Where the next field begins, in ``bytes``.
    var position = 0
    let end: Int

    /// - Parameter base: where `bytes` stand in the file, or in the decoded payload. The caller keeps them alive.
    init(_ bytes: ByteView, at base: UInt64, isDecoded: Bool = false) {
        self.bytes = bytes
        self.base = base
        self.isDecoded = isDecoded
        end = bytes.count
    }

    var isAtEnd: Bool { position >= end }

    private func note(_ start: Int, _ meaning: String?, _ remark: String? = nil) {
        guard let meaning else { return }
        let shown = bytes.slice(start, min(position - start, FileField.shownLength)).array
        fields.append(
            FileField(
                offset: base &+ UInt64(start), length: position - start, bytes: shown, meaning: meaning,
                note: remark,
                isDecoded: isDecoded))
    }

    /// Adds a remark to the field that was read last.
    func remark(_ text: String) {
        guard let last = fields.indices.last else { return }
        fields[last].note = text
    }

    /// The next bytes; without a field when there are none, or no meaning.
    @discardableResult
    func raw(_ count: Int, _ meaning: String? = nil) throws(MalformedBytes) -> ByteView {
        guard count >= 0, position >= 0, end - position >= count else { throw MalformedBytes(at: position) }
        let start = position
        position += count
        if count > 0 { note(start, meaning) }
        return bytes.slice(start, count)
    }

    /// A little-endian number of `size` bytes, 8 at most.
    @discardableResult
    func number(
        _ size: Int, _ meaning: String?, _ explain: (UInt64) -> String = { "\($0)" }
    ) throws(MalformedBytes) -> UInt64 {
        let start = position
        let view = try raw(size)
        var value: UInt64 = 0
        for index in (0..<size).reversed() { value = value << 8 | UInt64(view[index]) }
        note(start, meaning.map { "\($0): \(explain(value))" })
        return value
    }

    @discardableResult
    func varint(_ meaning: String) throws(MalformedBytes) -> UInt64 {
        var reader = ByteReader(bytes.dropFirst(position))
        let value = try reader.varint()
        let start = position
        position += reader.position
        note(start, "\(meaning): \(value)")
        return value
    }

    /// A varint length, then that many bytes.
    @discardableResult
    func prefixed(_ meaning: String) throws(MalformedBytes) -> ByteView {
        let length = try varint("length of \(meaning)")
        guard length <= UInt64(end - position) else { throw MalformedBytes(at: position) }
        return try raw(Int(length), meaning)
    }
}

/// Explains numbers in fields.
enum FieldText {
    static func hexadecimal(_ value: UInt64) -> String { "0x" + FileField.hexadecimal(value) }
}
