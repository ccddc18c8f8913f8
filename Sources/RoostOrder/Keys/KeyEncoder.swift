import RoostBytes

/// Writes JSON values as keys: bytes that compare as the values do in a collation.
///
/// Each value's key tells where it ends and is no beginning of another one's, so the keys of several columns may follow each
/// other. Values that the collation holds equal have the same key. Not thread-safe; keeps its memory.
///
///     value                 tag       then
///     missing               01
///     null, false, true     10 11 12
///     number below 0        20        the magnitude's groups, each bit inverted
///     number                21        the magnitude's groups
///     string                30        UTF-8, or the sort key; 00
///     array                 40        the elements; 00
///     object                50        name, value, name, value …; 00
///     data                  60        the bytes; 00
///
/// Raw collation has other tags, in its order of kinds. In UTF-8 and in data, 00 is 01 01 and 01 is 01 02; sort keys have
/// no 00. A magnitude of 74 bits (``OrderedNumber``) is cut into groups of seven from its highest bit, groups of zeros at
/// the end left out; each is a byte with the lowest bit set when another one follows.
package final class KeyEncoder {
    /// The order of the keys.
    package let collation: Collation
    let buffer = ByteBuffer()
    let tags: KeyTags
    private var sortKeys: SortKeyMaker?

    package init(_ collation: Collation) {
        self.collation = collation
        tags = collation.tags
        if case .unicode(let order) = collation.texts { sortKeys = SortKeyMaker(order) }
    }

    /// What was written; valid until the encoder is used again.
    package var view: ByteView { buffer.view }

    /// What was written.
    package var key: [UInt8] { buffer.view.array }

    /// The bytes written so far.
    package var count: Int { buffer.count }

    /// Begins a new key.
    package func reset() { buffer.reset(keeping: 1 << 16) }

    /// Takes back all but the first `count` bytes.
    package func truncate(to count: Int) { buffer.resize(to: min(count, buffer.count)) }

    // MARK: Parts

    package func appendMissing() { buffer.append(KeyTags.missing) }

    package func appendNull() { buffer.append(tags.null) }

    package func append(_ value: Bool) { buffer.append(value ? tags.true : tags.false) }

    package func append(_ value: Int64) { append(OrderedNumber(value)) }

    package func append(_ value: UInt64) { append(OrderedNumber(value)) }

    /// Appends a number, infinite ones too; what is no number (NaN) counts as null.
    package func append(_ value: Double) {
        if let number = OrderedNumber(value) { append(number) } else { appendNull() }
    }

    package func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append(text: ByteView(UnsafeRawBufferPointer($0))) }
    }

    /// Appends a text, given in UTF-8.
    package func append(text: ByteView) {
        buffer.append(tags.text)
        switch collation.texts {
        case .bytes: appendEscaped(text)
        case .caselessASCII: appendEscaped(text) { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        case .unicode: sortKeys?.append(text, to: buffer)
        }
        buffer.append(KeyTags.end)
    }

    package func append(data: ByteView) {
        buffer.append(KeyTags.data)
        appendEscaped(data)
        buffer.append(KeyTags.end)
    }

    /// Begins an array, whose elements follow up to ``endCollection()``.
    package func beginArray() { buffer.append(tags.array) }

    /// Begins an object, whose names and values follow in turn, by the names' bytes, up to ``endCollection()``.
    package func beginObject() { buffer.append(tags.object) }

    package func endCollection() { buffer.append(KeyTags.end) }

    /// Appends bytes that are a key already, or come after one.
    package func append(raw bytes: ByteView) { buffer.append(bytes) }

    /// Inverts what was written from `offset` on, which then orders the other way.
    package func complement(from offset: Int) {
        for index in offset..<max(offset, buffer.count) { buffer.store(~buffer.view[index], at: index) }
    }

    // MARK: Details

    private func append(_ number: OrderedNumber) {
        buffer.append(number.isNegative ? tags.negative : tags.positive)
        let mask: UInt8 = number.isNegative ? 0xFF : 0
        var rest = number.magnitude << (128 - 74)
        repeat {
            let group = UInt8(truncatingIfNeeded: rest >> 121) << 1
            rest <<= 7
            buffer.append((rest == 0 ? group : group | 1) ^ mask)
        } while rest != 0
    }

    private func appendEscaped(_ bytes: ByteView, _ fold: (UInt8) -> UInt8 = { $0 }) {
        buffer.reserve(bytes.count + 1)
        for index in 0..<bytes.count {
            let byte = fold(bytes[index])
            if byte <= 1 { buffer.append(1) }
            buffer.append(byte <= 1 ? byte + 1 : byte)
        }
    }
}
