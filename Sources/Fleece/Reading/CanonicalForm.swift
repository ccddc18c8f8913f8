/// Gathers bytes to digest: values in a form that depends on what they are and not on how a body lays them out.
///
/// A value is one byte that says what it is, and its content. Integers and floating-point numbers take eight bytes,
/// little-endian; lengths are varints.
///
///     00   null
///     01   false
///     02   true
///     03   an integer from -2⁶³ to 2⁶³ - 1
///     04   a greater integer, unsigned
///     05   a floating-point number, as a double
///     06   a text: the length of its UTF-8, the UTF-8
///     07   data: the length, the bytes
///     08   an array: the elements, and 0A
///     09   a dictionary: the members in the order of their keys' bytes, each its key, a text, and its value; and 0A
///
/// Members whose value is `undefined` are left out; elsewhere it is null. Bodies with shared keys are not supported.
/// Keeps its memory for the next digest. Belongs to one task at a time.
package struct CanonicalForm: ~Copyable {
    private var output: GrowableBuffer<UInt8>

    package init() { output = GrowableBuffer(capacity: 1024) }

    /// Forgets what was appended.
    package mutating func removeAll() {
        if output.count > 1 << 20 { output = GrowableBuffer(capacity: 1024) }
        output.removeAll()
    }

    /// Calls `body` with all that was appended.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        unsafe body(UnsafeRawBufferPointer(output.elements))
    }

    package mutating func append(_ byte: UInt8) { output.append(byte) }

    package mutating func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe output.append(bytes: $0) }
    }

    package mutating func append(varint value: Int) { output.append(varint: value) }

    /// Appends the length of a text and its UTF-8.
    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 {
            output.append(varint: $0.count)
            unsafe output.append(bytes: UnsafeRawBufferPointer($0))
        }
    }

    /// Appends a value with all that is in it. O(n).
    package mutating func append(_ value: FleeceValue) {
        guard value.isSomewhere else { return output.append(Tag.null) }
        value.document.read { append($0, at: value.offset, depth: 0) }
    }

    private enum Tag {
        static let null: UInt8 = 0
        static let integer: UInt8 = 3
        static let unsigned: UInt8 = 4
        static let double: UInt8 = 5
        static let text: UInt8 = 6
        static let data: UInt8 = 7
        static let array: UInt8 = 8
        static let dictionary: UInt8 = 9
        static let end: UInt8 = 10
    }

    private mutating func append(_ view: RawSpan, at offset: Int, depth: Int) {
        let header = view.header(at: offset)
        switch header.tag {
        case .string: append(Tag.text, view, view.content(at: offset))
        case .data: append(Tag.data, view, view.content(at: offset))
        case .smallInteger, .integer:
            switch view.integer(at: offset) {
            case .signed(let value): append(Tag.integer, UInt64(bitPattern: value))
            case .unsigned(let value): append(Tag.unsigned, value)
            }
        case .float: append(Tag.double, view.double(at: offset).bitPattern)
        case .array: appendArray(view, at: offset, depth: depth + 1)
        case .dictionary: appendDictionary(view, at: offset, depth: depth + 1)
        case .special:
            switch header.special {
            case .false: output.append(1)
            case .true: output.append(2)
            default: output.append(Tag.null)
            }
        case nil: output.append(Tag.null)
        }
    }

    @inline(__always)
    private mutating func append(_ tag: UInt8, _ bits: UInt64) {
        output.append(tag)
        let bits = bits.littleEndian
        unsafe output.append(8) { unsafe UnsafeMutableRawPointer($0).storeBytes(of: bits, as: UInt64.self) }
    }

    @inline(__always)
    private mutating func append(_ tag: UInt8, _ view: RawSpan, _ content: Range<Int>?) {
        let content = content ?? 0..<0
        output.append(tag)
        output.append(varint: content.count)
        unsafe output.append(bytes: view.buffer(content))
    }

    private mutating func appendArray(_ view: RawSpan, at offset: Int, depth: Int) {
        guard depth <= FleeceLimits.maximumDepth, let layout = view.collection(at: offset) else {
            return output.append(Tag.null)
        }
        output.append(Tag.array)
        for index in 0..<layout.count {
            let place = layout.first &+ index &* layout.stride
            append(view, at: view.resolve(itemAt: place, of: layout), depth: depth)
        }
        output.append(Tag.end)
    }

    private mutating func appendDictionary(_ view: RawSpan, at offset: Int, depth: Int) {
        guard depth <= FleeceLimits.maximumDepth, let layout = view.collection(at: offset) else {
            return output.append(Tag.null)
        }
        output.append(Tag.dictionary)
        for pair in 0..<layout.count {
            let value = view.value(ofPair: pair, in: layout)
            let header = view.header(at: value)
            if header.tag == .special, header.special == .undefined { continue }
            let key: Range<Int>? =
                if case .text(let range) = view.key(ofPair: pair, in: layout) { range } else { nil }
            append(Tag.text, view, key)
            append(view, at: value, depth: depth)
        }
        output.append(Tag.end)
    }
}
