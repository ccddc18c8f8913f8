/// Writes values as JSON text.
struct JSONWriter: ~Copyable {
    var output: GrowableBuffer<UInt8>
    private let format: JSONFormat
    private let sharedKeys: SharedKeys?

    init(format: JSONFormat, sharedKeys: SharedKeys?, capacity: Int) {
        self.format = format
        self.sharedKeys = sharedKeys
        output = GrowableBuffer(capacity: capacity)
    }

    /// Writes the value at `offset`. What cannot be read is null; so is what lies deeper than a body may go.
    mutating func write(_ view: RawSpan, at offset: Int, depth: Int = 0) {
        switch view.header(at: offset).tag {
        case .smallInteger, .integer: write(view.integer(at: offset))
        case .float: write(view.double(at: offset))
        case .special: write(view.header(at: offset).special)
        case .string:
            if let content = view.content(at: offset) {
                unsafe write(string: view.buffer(content))
            } else {
                writeNull()
            }
        case .data:
            if let content = view.content(at: offset) {
                unsafe write(base64: view.buffer(content), isMarked: format == .canonical)
            } else {
                writeNull()
            }
        case .array: writeArray(view, at: offset, depth: depth + 1)
        case .dictionary: writeDictionary(view, at: offset, depth: depth + 1)
        case nil: writeNull()
        }
    }

    private mutating func writeArray(_ view: RawSpan, at offset: Int, depth: Int) {
        guard depth <= FleeceLimits.maximumDepth, let layout = view.collection(at: offset) else {
            return writeNull()
        }
        output.append(UInt8(ascii: "["))
        for index in 0..<layout.count {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            if format == .pretty { writeLine(indentation: depth) }
            let place = layout.first &+ index &* layout.stride
            write(view, at: view.resolve(itemAt: place, of: layout), depth: depth)
        }
        if format == .pretty, layout.count > 0 { writeLine(indentation: depth - 1) }
        output.append(UInt8(ascii: "]"))
    }

    private mutating func writeDictionary(_ view: RawSpan, at offset: Int, depth: Int) {
        guard depth <= FleeceLimits.maximumDepth, let layout = view.collection(at: offset) else {
            return writeNull()
        }
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        if format == .canonical, let order = canonicalOrder(view, layout) {
            for pair in order { writePair(view, pair, of: layout, depth: depth, isFirst: &isFirst) }
        } else {
            for pair in 0..<layout.count {
                writePair(view, pair, of: layout, depth: depth, isFirst: &isFirst)
            }
        }
        if format == .pretty, !isFirst { writeLine(indentation: depth - 1) }
        output.append(UInt8(ascii: "}"))
    }

    @inline(__always)
    private mutating func writePair(
        _ view: RawSpan, _ pair: Int, of layout: CollectionLayout, depth: Int, isFirst: inout Bool
    ) {
        let value = view.value(ofPair: pair, in: layout)
        let header = view.header(at: value)
        // A key whose value is undefined has no value.
        if header.tag == .special, header.special == .undefined { return }
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        if format == .pretty { writeLine(indentation: depth) }
        switch view.key(ofPair: pair, in: layout) {
        case .text(let text): unsafe write(string: view.buffer(text))
        case .number(let number): write(keyNumber: number)
        case nil: output.append(text: "\"\"")
        }
        output.append(UInt8(ascii: ":"))
        if format == .pretty { output.append(UInt8(ascii: " ")) }
        write(view, at: value, depth: depth)
    }

    private mutating func write(keyNumber number: Int) {
        output.append(UInt8(ascii: "\""))
        // Shared keys have no characters that JSON escapes.
        if unsafe sharedKeys?.withBytes(of: number, { unsafe output.append(bytes: $0) }) == nil {
            output.append(UInt8(ascii: "#"))
            write(.signed(Int64(number)))
        }
        output.append(UInt8(ascii: "\""))
    }

    /// The pairs in the order of their keys' bytes; `nil` where that is how they are stored.
    private func canonicalOrder(_ view: RawSpan, _ layout: CollectionLayout) -> [Int]? {
        guard layout.count > 1, case .number = view.key(ofPair: 0, in: layout) else { return nil }
        let ranks = (0..<layout.count).map { pair in
            unsafe withKey(view, pair, of: layout) { unsafe ByteOrder.prefix($0) }
        }
        return (0..<layout.count).sorted { left, right in
            if ranks[left] != ranks[right] { return ranks[left] < ranks[right] }
            return unsafe withKey(view, left, of: layout) { left in
                unsafe withKey(view, right, of: layout) { right in unsafe ByteOrder.compare(left, right) < 0 }
            }
        }
    }

    /// Calls `body` with the bytes of a key; with none if it is not known.
    private func withKey<R>(
        _ view: RawSpan, _ pair: Int, of layout: CollectionLayout, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        let known: R? =
            switch view.key(ofPair: pair, in: layout) {
            case .text(let text): unsafe body(view.buffer(text))
            case .number(let number): unsafe sharedKeys?.withBytes(of: number, body)
            case nil: nil
            }
        return unsafe known ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private mutating func writeLine(indentation: Int) {
        output.append(0x0A)
        for _ in 0..<indentation { output.append(text: "  ") }
    }
}
