import RoostBytes

/// Writes one Fleece body after the other, value by value.
///
/// ```swift
/// var writer = FleeceWriter()
/// writer.beginDictionary()
/// writer.key("name"); writer.write("Apus apus")
/// writer.key("grams"); writer.write(42)
/// writer.endDictionary()
/// let body = try writer.finish()
/// ```
///
/// No call but ``finish()`` and ``write(json:)-(String)`` throws: a call out of order or a number that cannot be
/// written is remembered, what follows is ignored, and ``finish()`` throws the first such error.
///
/// Short strings are stored once, dictionary keys sorted, and collections get the narrow form where pointers
/// of two bytes reach. Of several values for one key the last remains. Unlike the reference encoder, whole
/// floating-point numbers remain floating point: 1.0 and 1 stay apart.
///
/// A writer belongs to one task at a time. It keeps its memory for the next body.
public struct FleeceWriter: ~Copyable {
    struct Frame: BitwiseCopyable {
        /// Where in ``items`` the collection's items begin.
        var start: Int
        var isDictionary: Bool
    }

    private var output: FleeceOutput
    /// The items of all open collections, the innermost last; before them, the root.
    private var items = GrowableBuffer<Item>(capacity: 64)
    /// The collections around the innermost one.
    private var frames = GrowableBuffer<Frame>(capacity: 16)
    private var current = Frame(start: 0, isDictionary: false)

    /// A writer for bodies with their own keys, or with keys from `sharedKeys`.
    ///
    /// - Parameters:
    ///   - sharedKeys: The list to take key numbers from and to add eligible keys to; read it back from
    ///     ``sharedKeys``.
    ///   - capacity: How many bytes to make room for at first.
    public init(sharedKeys: SharedKeys? = nil, capacity: Int = 1024) {
        output = FleeceOutput(sharedKeys: sharedKeys, capacity: capacity)
    }

    /// A writer for bodies in which the values within `wrapping` collections may be as deep as a whole body: rows of answers, of which a
    /// column may be a document.
    package init(capacity: Int, wrapping levels: Int) {
        self.init(capacity: capacity)
        output.maximumDepth += levels
    }

    /// The shared keys with all that were added so far; `nil` if the writer was made without.
    public var sharedKeys: SharedKeys? { output.sharedKeys }

    /// Whether ``finish()`` will throw.
    var hasFailed: Bool { output.failure != nil }

    /// How many collections are open.
    var depth: Int { frames.count }

    /// Whether the innermost open collection is a dictionary.
    var isInDictionary: Bool { current.isDictionary }

    /// Ends the body, answers it, and makes the writer ready for the next one.
    ///
    /// - Throws: ``FleeceError`` for what went wrong since the last body: a call out of order, not exactly one
    ///   value, a number that is not finite, too deep nesting, or a body that is too large.
    public mutating func finish() throws(FleeceError) -> [UInt8] {
        defer { removeAll() }
        try end()
        return output.bytes.copy()
    }

    /// Ends the body, appends it to `buffer`, and makes the writer ready for the next one. Nothing is appended when it throws.
    package mutating func finish(to buffer: ByteBuffer) throws(FleeceError) {
        defer { removeAll() }
        try end()
        unsafe buffer.append(ByteView(UnsafeRawBufferPointer(output.bytes.elements)))
    }

    private mutating func end() throws(FleeceError) {
        if depth > 0 { output.fail(.misuse, "\(depth) collections are still open.") }
        if items.count != 1 { output.fail(.misuse, "A body is one value; \(items.count) were written.") }
        if let failure = output.failure { throw failure }
        try output.finish(root: items[0])
    }

    /// Forgets what was written since the last body. The shared keys stay.
    public mutating func removeAll() {
        output.removeAll()
        items.removeAll()
        frames.removeAll()
        current = Frame(start: 0, isDictionary: false)
    }

    /// Begins an array; the values up to ``endArray()`` are its elements.
    public mutating func beginArray() {
        begin(isDictionary: false)
    }

    /// Begins a dictionary; up to ``endDictionary()``, every value is preceded by its ``key(_:)``.
    public mutating func beginDictionary() {
        begin(isDictionary: true)
    }

    /// Ends the innermost collection, which must be an array.
    public mutating func endArray() {
        guard depth > 0, !isInDictionary else {
            return output.fail(.misuse, "There is no array to end here.")
        }
        let array = unsafe output.array(
            UnsafeMutableBufferPointer(rebasing: items.elements[current.start...]))
        end(with: array)
    }

    /// Ends the innermost collection, which must be a dictionary whose last key has its value.
    public mutating func endDictionary() {
        guard isInDictionary, (items.count &- current.start) & 1 == 0 else {
            return output.fail(.misuse, "There is no dictionary to end here.")
        }
        let pairs = unsafe UnsafeMutableBufferPointer(rebasing: items.elements[current.start...])
        end(with: unsafe output.dictionary(pairs))
    }

    private mutating func begin(isDictionary: Bool) {
        guard depth < output.maximumDepth else {
            return output.fail(
                .tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
        }
        guard output.failure == nil, expectsValue() else { return }
        frames.append(current)
        current = Frame(start: items.count, isDictionary: isDictionary)
    }

    private mutating func end(with collection: Item) {
        items.removeAll(from: current.start)
        current = frames[frames.count &- 1]
        frames.removeAll(from: frames.count &- 1)
        items.append(collection)
    }

    /// In a dictionary, keys and values take turns.
    @inline(__always)
    private mutating func expectsValue() -> Bool {
        if isInDictionary, (items.count &- current.start) & 1 == 0 {
            output.fail(.misuse, "In a dictionary, a key must come before the value.")
            return false
        }
        return true
    }

    /// Appends the item that `body` answers for a value it writes to the output itself, given the depth; nothing when it
    /// answers `nil`.
    mutating func append(_ body: (inout FleeceOutput, Int) throws -> Item?) rethrows {
        if let item = try body(&output, depth) { append(item) }
    }

    /// Makes ``finish()`` throw: in place of a value that can't be written.
    package mutating func fail(_ code: FleeceError.Code, _ message: String) {
        output.fail(code, message)
    }

    @inline(__always)
    private mutating func append(_ item: Item) {
        if expectsValue() { items.append(item) }
    }

    @inline(__always)
    mutating func key(utf8 text: UnsafeRawBufferPointer) {
        guard isInDictionary, (items.count &- current.start) & 1 == 0 else {
            return output.fail(.misuse, "A key is not expected here.")
        }
        unsafe items.append(output.key(text))
    }

    @inline(__always)
    mutating func writeString(utf8 text: UnsafeRawBufferPointer) {
        unsafe append(output.string(text))
    }

    @inline(__always)
    mutating func writeData(_ data: UnsafeRawBufferPointer) {
        unsafe append(output.data(data))
    }

    /// Writes the key of the value that comes next.
    public mutating func key(_ key: String) {
        var key = key
        key.withUTF8 { unsafe self.key(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Writes a null.
    public mutating func writeNull() { append(.null) }

    /// Writes the format's `undefined`, which reads as if there were no value and which JSON text leaves out.
    public mutating func writeUndefined() { append(.undefined) }

    /// Writes a truth value.
    public mutating func write(_ value: Bool) { append(FleeceOutput.bool(value)) }

    /// Writes an integer.
    public mutating func write(_ value: Int) { append(output.integer(Int64(value))) }

    /// Writes an integer.
    public mutating func write(_ value: Int64) { append(output.integer(value)) }

    /// Writes an integer.
    public mutating func write(_ value: UInt64) { append(output.integer(value)) }

    /// Writes a floating-point number, which must be finite.
    public mutating func write(_ value: Double) { append(output.double(value)) }

    /// Writes a string.
    public mutating func write(_ value: String) {
        var value = value
        value.withUTF8 { unsafe writeString(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Writes bytes as data. JSON text shows them as a Base64 string.
    public mutating func write(data: some Sequence<UInt8>) {
        let bytes = ContiguousArray(data)
        unsafe bytes.withUnsafeBytes { unsafe writeData($0) }
    }
}

// MARK: - Values

extension FleeceWriter {
    /// Writes a copy of a value from any document, its keys translated to this writer's shared keys.
    ///
    /// ``FleeceValue/undefined`` is written like ``writeUndefined()``.
    public mutating func write(_ value: FleeceValue) {
        append { output, depth in output.copy(value, depth: depth) }
    }
}

extension FleeceOutput {
    /// Writes a copy of `value`, which will be within `depth` collections.
    mutating func copy(_ value: FleeceValue, depth: Int) -> Item {
        guard value.isSomewhere else { return .undefined }
        return value.document.read {
            copy($0, at: value.offset, keys: value.document.sharedKeys, depth: depth)
        }
    }

    /// Writes a copy of the value at `offset`, whose dictionaries may have numbers from `keys` in place of strings.
    mutating func copy(_ view: RawSpan, at offset: Int, keys: SharedKeys?, depth: Int) -> Item {
        let header = view.header(at: offset)
        switch header.tag {
        case .special, .smallInteger:
            return Item(header)
        case .integer:
            return switch view.integer(at: offset) {
            case .signed(let value): integer(value)
            case .unsigned(let value): integer(value)
            }
        case .float:
            return double(view.double(at: offset))
        case .string:
            return view.content(at: offset).map { unsafe string(view.buffer($0)) } ?? .undefined
        case .data:
            return view.content(at: offset).map { unsafe data(view.buffer($0)) } ?? .undefined
        case .array, .dictionary:
            return copy(view, collectionAt: offset, keys: keys, depth: depth)
        case nil:
            return .undefined
        }
    }

    private mutating func copy(
        _ view: RawSpan, collectionAt offset: Int, keys: SharedKeys?, depth: Int
    ) -> Item {
        guard depth < maximumDepth else {
            fail(.tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
            return .undefined
        }
        guard let layout = view.collection(at: offset) else { return .undefined }
        let isDictionary = view.header(at: offset).tag == .dictionary
        var items = GrowableBuffer<Item>(capacity: layout.count * 2)
        for place in stride(from: layout.first, to: layout.end, by: layout.isWide ? 4 : 2)
        where failure == nil {
            let isKey = isDictionary && items.count & 1 == 0
            let element = view.resolve(itemAt: place, of: layout)
            items.append(
                isKey
                    ? copy(view, keyAt: element, keys: keys)
                    : copy(view, at: element, keys: keys, depth: depth + 1))
        }
        return unsafe isDictionary ? dictionary(items.elements) : array(items.elements)
    }

    private mutating func copy(_ view: RawSpan, keyAt offset: Int, keys: SharedKeys?) -> Item {
        if let text = view.content(at: offset), view.header(at: offset).tag == .string {
            return unsafe key(view.buffer(text))
        }
        let number = view.header(at: offset).smallInteger
        return unsafe keys?.withBytes(of: number) { unsafe key($0) }
            ?? string(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}
