import RoostBytes

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

// MARK: - Scalars

extension JSONWriter {
    mutating func writeNull() { output.append(text: "null") }

    mutating func write(_ special: Header) {
        switch special {
        case .true: output.append(text: "true")
        case .false: output.append(text: "false")
        default: writeNull()
        }
    }

    @inline(__always)
    mutating func write(_ integer: FleeceInteger) {
        switch integer {
        case .unsigned(let value): write(decimal: value)
        case .signed(let value):
            if value < 0 { output.append(UInt8(ascii: "-")) }
            write(decimal: value.magnitude)
        }
    }

    /// Writes at least `minimumDigits` digits, with zeros in front.
    @inline(__always)
    private mutating func write(decimal value: UInt64, minimumDigits: Int = 1) {
        if value < 10, minimumDigits <= 1 {
            return output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value))
        }
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, value >= bound {
            digits &+= 1
            bound = digits < 20 ? bound &* 10 : UInt64.max
        }
        let length = max(digits, minimumDigits)
        unsafe output.append(length) { target in
            var rest = value
            for index in stride(from: length - 1, through: 0, by: -1) {
                unsafe target[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
    }

    /// Writes the shortest decimal number that reads as `value` again, always with a fraction or an exponent.
    mutating func write(_ value: Double) {
        guard value.isFinite else { return writeNull() }
        if !writeFewDecimals(value) {
            var text = value.description
            text.withUTF8 { unsafe output.append(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// Writes a number of everyday size with at most eight decimals.
    ///
    /// With less than 16 digits, at most one decimal number of that length reads as `value`, and dividing two
    /// exact integers rounds as reading does; so a match without trailing zeros is the shortest one.
    @inline(__always)
    private mutating func writeFewDecimals(_ value: Double) -> Bool {
        let magnitude = value.magnitude
        guard magnitude >= 1e-3, magnitude < 1e7 else { return false }
        var scaled = UInt64((magnitude * 1e8).rounded())
        guard Double(scaled) / 1e8 == magnitude else { return false }
        var decimals = 8
        while decimals > 1, scaled % 10 == 0 {
            scaled /= 10
            decimals &-= 1
        }
        var unit: UInt64 = 1
        for _ in 0..<decimals { unit &*= 10 }
        if value < 0 { output.append(UInt8(ascii: "-")) }
        write(decimal: scaled / unit)
        output.append(UInt8(ascii: "."))
        write(decimal: scaled % unit, minimumDigits: decimals)
        return true
    }

    /// Writes a string in quotation marks with the escapes that JSON demands, and no others.
    @inline(__always)
    mutating func write(string text: UnsafeRawBufferPointer) {
        output.append(UInt8(ascii: "\""))
        if var cursor = text.baseAddress {
            let end = unsafe cursor + text.count
            while true {
                let stop = unsafe JSONText.skipPlain(cursor, end, stopsAtNonASCII: false)
                unsafe output.append(bytes: UnsafeRawBufferPointer(start: cursor, count: stop - cursor))
                guard unsafe stop < end else { break }
                write(escaped: unsafe stop.load(as: UInt8.self))
                unsafe cursor = stop + 1
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func write(escaped byte: UInt8) {
        switch byte {
        case 0x08: output.append(text: "\\b")
        case 0x09: output.append(text: "\\t")
        case 0x0A: output.append(text: "\\n")
        case 0x0C: output.append(text: "\\f")
        case 0x0D: output.append(text: "\\r")
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            output.append(UInt8(ascii: "\\"))
            output.append(byte)
        default:
            output.append(text: "\\u00")
            output.append(Self.hexadecimal(byte >> 4))
            output.append(Self.hexadecimal(byte & 0x0F))
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    /// Writes data as a string in Base64 with padding (RFC 4648, section 4).
    ///
    /// - Parameter isMarked: whether to put it between `<` and `>` instead of quotation marks.
    mutating func write(base64 data: UnsafeRawBufferPointer, isMarked: Bool) {
        output.append(isMarked ? UInt8(ascii: "<") : UInt8(ascii: "\""))
        unsafe output.append(Base64.length(of: data.count)) { unsafe Base64.write(data, to: $0) }
        output.append(isMarked ? UInt8(ascii: ">") : UInt8(ascii: "\""))
    }
}
