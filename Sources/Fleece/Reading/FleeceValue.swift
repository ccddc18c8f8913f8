import RoostBytes

/// A value in a ``FleeceDocument``: a scalar, an array, a dictionary, null, or no value at all.
///
/// Looking for something that is not there answers ``undefined``, and so does every look into that, so that a
/// chain of subscripts needs no unwrapping until its end:
///
/// ```swift
/// document["address"]["street"].string   // nil if there is no address, no street, or no string
/// document["address"].isNull             // true only if the document says null
/// ```
///
/// Typed properties never convert between kinds, except integers to floating point and whole numbers to integers.
public struct FleeceValue: Sendable {
    /// What a value is.
    public enum Kind: Sendable, Hashable {
        /// There is no value; or, rarely, the format's explicit `undefined`.
        case undefined
        /// JSON's null, which is a value.
        case null
        /// A truth value.
        case bool
        /// A whole number of 64 bits with or without sign.
        case integer
        /// A floating-point number, which may be whole: 1.0.
        case double
        /// Text in UTF-8.
        case string
        /// Bytes. In JSON text they are a string in Base64.
        case data
        /// A list of values.
        case array
        /// Values by name.
        case dictionary
    }

    let document: FleeceDocument
    let offset: Int

    /// The value with its bytes at `offset`, which is no pointer's; no value where that is ``RawSpan/nowhere``.
    @inline(__always)
    init(_ document: FleeceDocument, _ offset: Int) {
        self.document = document
        self.offset = offset
    }

    /// No value.
    public static let undefined = FleeceValue(FleeceDocument(trusting: []), RawSpan.nowhere)

    /// Whether there are bytes of a value, be they those of the format's explicit `undefined`.
    @inline(__always)
    var isSomewhere: Bool { offset >= 0 }

    @inline(__always)
    var header: Header { document.read { $0.header(at: offset) } }

    /// What the value is.
    public var kind: Kind {
        let header = header
        return switch header.tag {
        case .smallInteger, .integer: .integer
        case .float: .double
        case .special where header.special == .null: .null
        case .special where header.special == .undefined: .undefined
        case .special: .bool
        case .string: .string
        case .data: .data
        case .array: .array
        case .dictionary: .dictionary
        case nil: .undefined
        }
    }

    /// Whether there is a value; null is one.
    public var exists: Bool { kind != .undefined }

    /// Whether the value is null; false where there is none.
    public var isNull: Bool {
        let header = header
        return header.tag == .special && header.special == .null
    }

    /// The value of `key` if this is a dictionary that has it; otherwise ``undefined``.
    ///
    /// O(log n) comparisons of keys; values are not touched.
    public subscript(key: String) -> FleeceValue {
        FleeceValue(document, document.offset(ofKey: key, inDictionaryAt: offset))
    }

    /// The element at `index` if this is an array that has it; otherwise ``undefined``. O(1).
    public subscript(index: Int) -> FleeceValue {
        FleeceValue(document, document.offset(ofElement: index, inArrayAt: offset))
    }

    /// The value that `path` leads to from here; ``undefined`` if it leads nowhere.
    public subscript(path path: FleecePath) -> FleeceValue {
        path.components.reduce(self) { value, component in
            switch component {
            case .key(let key): value[key]
            case .index(let index): value[index < 0 ? (value.array?.count ?? 0) + index : index]
            }
        }
    }
}

extension FleeceDocument {
    func offset(ofElement index: Int, inArrayAt offset: Int) -> Int {
        read { view in
            guard view.header(at: offset).tag == .array, let layout = view.collection(at: offset),
                index >= 0, index < layout.count
            else { return RawSpan.nowhere }
            return view.resolve(itemAt: layout.first &+ index &* layout.stride, of: layout)
        }
    }

    /// The offset of the value for `key` in the dictionary at `offset`, ``RawSpan/nowhere`` without.
    func offset(ofKey key: String, inDictionaryAt offset: Int) -> Int {
        var key = key
        return key.withUTF8 {
            unsafe self.offset(ofKey: UnsafeRawBufferPointer($0), inDictionaryAt: offset)
        }
    }

    private func offset(ofKey key: UnsafeRawBufferPointer, inDictionaryAt offset: Int) -> Int {
        read { view in
            guard view.header(at: offset).tag == .dictionary, let layout = view.collection(at: offset),
                layout.count > 0
            else { return RawSpan.nowhere }
            var pair: Int?
            if let number = unsafe sharedKeys?.number(ofUTF8: key) {
                pair = view.pair(withNumber: number, in: layout)
            }
            // A body from elsewhere may spell out a key that is shared here.
            guard let pair = unsafe pair ?? view.pair(withKey: key, in: layout) else {
                return RawSpan.nowhere
            }
            return view.value(ofPair: pair, in: layout)
        }
    }
}

// MARK: - Scalars

extension FleeceValue {
    /// The truth value; `nil` for any other kind.
    public var bool: Bool? {
        let header = header
        guard header.tag == .special else { return nil }
        switch header.special {
        case .true: return true
        case .false: return false
        default: return nil
        }
    }

    /// The number as an `Int`; `nil` if it is not whole, out of range, or no number.
    public var int: Int? { integer(Int.self) }

    /// The number as an `Int64`; `nil` if it is not whole, out of range, or no number.
    public var int64: Int64? { integer(Int64.self) }

    /// The number as a `UInt64`; `nil` if it is negative, not whole, out of range, or no number.
    public var uint64: UInt64? { integer(UInt64.self) }

    /// The number as a `Double`, for integers beyond 2⁵³ the nearest; `nil` if this is no number.
    public var double: Double? {
        document.read { view in
            switch view.header(at: offset).tag {
            case .float:
                return view.double(at: offset)
            case .smallInteger, .integer:
                return switch view.integer(at: offset) {
                case .signed(let value): Double(value)
                case .unsigned(let value): Double(value)
                }
            default:
                return nil
            }
        }
    }

    /// The string; `nil` for any other kind. Copies it.
    public var string: String? {
        unsafe withBytes(.string) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of data; `nil` for any other kind. Copies them.
    public var data: [UInt8]? {
        unsafe withBytes(.data) { unsafe [UInt8]($0) }
    }

    /// The number as any integer type; `nil` if it does not fit or is no number.
    func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        document.read { view in
            switch view.header(at: offset).tag {
            case .smallInteger, .integer:
                return switch view.integer(at: offset) {
                case .signed(let value): T(exactly: value)
                case .unsigned(let value): T(exactly: value)
                }
            case .float:
                return T(exactly: view.double(at: offset))
            default:
                return nil
            }
        }
    }

    /// Calls `body` with the bytes of a string or of data; `nil` if the value has another tag.
    @inline(__always)
    func withBytes<R>(_ tag: Header.Tag, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        document.read { view in
            guard view.header(at: offset).tag == tag, let content = view.content(at: offset) else {
                return nil
            }
            return unsafe body(view.buffer(content))
        }
    }
}

// MARK: - Bytes

extension FleeceValue {
    /// Calls `body` with the UTF-8 of a string, valid during the call, without copying it; `nil` for any other kind.
    @unsafe package func withUTF8<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? {
        unsafe withBytes(.string, body)
    }
}

// MARK: - Equality

extension FleeceValue: Hashable {
    /// Whether both values have the same content, wherever it is stored and whatever the shared keys.
    ///
    /// 1 and 1.0 differ, as their JSON texts do. Takes time in proportion to the content.
    public static func == (left: Self, right: Self) -> Bool {
        left.isEqual(to: right, depth: 0)
    }

    private func isEqual(to other: Self, depth: Int) -> Bool {
        let kind = kind
        guard kind == other.kind, depth <= FleeceLimits.maximumDepth else { return false }
        switch kind {
        case .undefined, .null: return true
        case .bool: return bool == other.bool
        case .integer: return storedInteger == other.storedInteger
        case .double: return double == other.double
        case .string: return hasSameBytes(as: other, .string)
        case .data: return hasSameBytes(as: other, .data)
        case .array:
            guard let array, let others = other.array, array.count == others.count else { return false }
            return zip(array, others).allSatisfy { $0.isEqual(to: $1, depth: depth + 1) }
        case .dictionary:
            guard let dictionary, dictionary.count == other.dictionary?.count else { return false }
            return dictionary.allSatisfy { key, value in
                let otherValue = other[key]
                return otherValue.isSomewhere && value.isEqual(to: otherValue, depth: depth + 1)
            }
        }
    }

    var storedInteger: FleeceInteger? {
        isSomewhere ? document.read { $0.integer(at: offset) } : nil
    }

    private func hasSameBytes(as other: Self, _ tag: Header.Tag) -> Bool {
        unsafe withBytes(tag) { bytes in
            unsafe other.withBytes(tag) { unsafe ByteOrder.compare(bytes, $0) == 0 }
        } == true
    }

    /// Feeds scalars completely and collections by their size, so that it takes constant time but for strings.
    public func hash(into hasher: inout Hasher) {
        let kind = kind
        hasher.combine(kind)
        switch kind {
        case .undefined, .null: break
        case .bool: hasher.combine(bool)
        case .integer: hasher.combine(storedInteger)
        case .double: hasher.combine(double)
        case .string: unsafe withBytes(.string) { unsafe hasher.combine(bytes: $0) }
        case .data: unsafe withBytes(.data) { unsafe hasher.combine(bytes: $0) }
        case .array: hasher.combine(array?.count)
        case .dictionary: hasher.combine(dictionary?.count)
        }
    }
}

extension FleeceDocument: Equatable {
    /// Whether both bodies have the same content: see ``FleeceValue/==(_:_:)``.
    public static func == (left: FleeceDocument, right: FleeceDocument) -> Bool {
        if left.sharedKeys == nil, right.sharedKeys == nil, left.bytes == right.bytes { return true }
        return left.root == right.root
    }
}

// MARK: - Codable

extension FleeceValue: Codable {
    /// Encodes the value with any encoder. ``FleeceEncoder`` does not come here, it copies the value.
    public func encode(to encoder: any Encoder) throws {
        if let array {
            var container = encoder.unkeyedContainer()
            for element in array { try container.encode(element) }
        } else if let dictionary {
            var container = encoder.container(keyedBy: PlainKey.self)
            for (key, value) in dictionary where value.exists {
                try container.encode(value, forKey: PlainKey(stringValue: key))
            }
        } else {
            try encodeScalar(to: encoder.singleValueContainer())
        }
    }

    private func encodeScalar(to container: any SingleValueEncodingContainer) throws {
        var container = container
        switch kind {
        case .bool: try container.encode(bool)
        case .integer: if let int64 { try container.encode(int64) } else { try container.encode(uint64) }
        case .double: try container.encode(double)
        case .string: try container.encode(string)
        case .data: try container.encode(Base64.encode(data ?? []))
        case .undefined, .null, .array, .dictionary: try container.encodeNil()
        }
    }

    /// Decodes whatever the decoder holds. ``FleeceDecoder`` does not come here, it hands out its own values.
    public init(from decoder: any Decoder) throws {
        var writer = FleeceWriter()
        try writer.write(everythingFrom: decoder)
        self = FleeceDocument(trusting: try writer.finish()).root
    }
}

extension FleeceWriter {
    /// Writes what a decoder of any kind holds, found out by trying the kinds in turn.
    fileprivate mutating func write(everythingFrom decoder: any Decoder) throws {
        guard !hasFailed else { return }
        if let container = try? decoder.container(keyedBy: PlainKey.self) {
            beginDictionary()
            for key in container.allKeys {
                self.key(key.stringValue)
                try write(everythingFrom: container.superDecoder(forKey: key))
            }
            endDictionary()
        } else if var container = try? decoder.unkeyedContainer() {
            beginArray()
            while !container.isAtEnd { try write(everythingFrom: container.superDecoder()) }
            endArray()
        } else {
            try write(scalarFrom: decoder.singleValueContainer())
        }
    }

    private mutating func write(scalarFrom container: any SingleValueDecodingContainer) throws {
        if container.decodeNil() {
            writeNull()
        } else if let bool = try? container.decode(Bool.self) {
            write(bool)
        } else if let integer = try? container.decode(Int64.self) {
            write(integer)
        } else if let integer = try? container.decode(UInt64.self) {
            write(integer)
        } else if let double = try? container.decode(Double.self) {
            write(double)
        } else {
            write(try container.decode(String.self))
        }
    }
}
