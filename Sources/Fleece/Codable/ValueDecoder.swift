/// Decodes one value.
final class ValueDecoder {
    let value: FleeceValue
    private let step: CodingStep
    private let parent: ValueDecoder?
    private let state: DecodingState
    /// The root's name, in place of what it has under `id`.
    let identifier: String?
    var hasIdentifier: Bool { identifier != nil }
    /// The same as a value, for types that are no strings.
    private(set) lazy var identifierValue = identifier.map(ValueDecoder.value(of:)) ?? .undefined
    /// What the value is being decoded as.
    private(set) var type: (any Any.Type)?
    /// What that has where it is not told otherwise, once that was asked for.
    var defaults: FleeceValue?

    init(root value: FleeceValue, identifier: String?, state: DecodingState) {
        self.value = value
        self.identifier = identifier
        self.state = state
        step = .none
        parent = nil
    }

    /// The decoder for a value that is `step` away from that of `parent`.
    init(_ value: FleeceValue, _ step: CodingStep, of parent: ValueDecoder) {
        self.value = value
        self.step = step
        self.parent = parent
        state = parent.state
        identifier = nil
    }

    private static func value(of text: String) -> FleeceValue {
        var writer = FleeceWriter()
        writer.write(text)
        guard let bytes = try? writer.finish() else { return .undefined }
        return FleeceDocument(trusting: bytes).root
    }

    var dateStrategy: FleeceDateStrategy { state.dateStrategy }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try value.scalar(type) {
            if type == FleeceValue.self, let value = value as? T { return value }
            if let value = try foundationValue(type) { return value }
            self.type = type
            defaults = nil
            return try T(from: self)
        }
    }

    /// Reads a scalar.
    func scalar<T>(_ read: (FleeceValue) -> T?) throws -> T {
        guard let scalar = read(value) else { throw mismatch(T.self) }
        return scalar
    }

    /// Why the value cannot be read as `type`.
    func mismatch(_ type: any Any.Type) -> DecodingError {
        let kind = value.kind
        if kind == .undefined || kind == .null {
            let description = "\(type) is expected, not \(value)."
            return .valueNotFound(type, .init(codingPath: codingPath, debugDescription: description))
        }
        if kind == .integer || kind == .double, type is any Numeric.Type {
            return corrupted("\(value) does not fit \(type).")
        }
        let description = "\(type) is expected, not \(kind)."
        return .typeMismatch(type, .init(codingPath: codingPath, debugDescription: description))
    }

    func corrupted(_ description: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: description))
    }
}

extension ValueDecoder: Decoder {
    var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + step.keys }

    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard value.dictionary != nil else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(KeyedValueDecoder(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let array = value.array else { throw mismatch([Any].self) }
        return UnkeyedValueDecoder(decoder: self, array: array)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull || !value.exists }
    func decode(_ type: Bool.Type) throws -> Bool { try scalar(\.bool) }
    func decode(_ type: String.Type) throws -> String { try scalar(\.string) }
    func decode(_ type: Double.Type) throws -> Double { try scalar(\.double) }
    func decode(_ type: Float.Type) throws -> Float { try scalar(\.float) }
    func decode(_ type: Int.Type) throws -> Int { try scalar { $0.integer(Int.self) } }
    func decode(_ type: Int8.Type) throws -> Int8 { try scalar { $0.integer(Int8.self) } }
    func decode(_ type: Int16.Type) throws -> Int16 { try scalar { $0.integer(Int16.self) } }
    func decode(_ type: Int32.Type) throws -> Int32 { try scalar { $0.integer(Int32.self) } }
    func decode(_ type: Int64.Type) throws -> Int64 { try scalar { $0.integer(Int64.self) } }
    func decode(_ type: UInt.Type) throws -> UInt { try scalar { $0.integer(UInt.self) } }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar { $0.integer(UInt8.self) } }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar { $0.integer(UInt16.self) } }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar { $0.integer(UInt32.self) } }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar { $0.integer(UInt64.self) } }
}

extension FleeceValue {
    /// The number as a `Float`, rounded; `nil` beyond its range.
    var float: Float? {
        double.map(Float.init).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The elements if this is an array of nothing but strings.
    private var strings: [String]? {
        guard let array else { return nil }
        var strings: [String] = []
        strings.reserveCapacity(array.count)
        for element in array {
            guard let string = element.string else { return nil }
            strings.append(string)
        }
        return strings
    }

    /// The value if `type` is one of the commonest types and matches it, spared the way through containers;
    /// otherwise what `decode` answers.
    @inline(__always)
    func scalar<T>(_ type: T.Type, orElse decode: () throws -> T) rethrows -> T {
        // The casts are between equal types.
        if type == String.self {
            if let string { return unsafe unsafeBitCast(string, to: type) }
        } else if type == Int.self {
            if let int { return unsafe unsafeBitCast(int, to: type) }
        } else if type == Double.self {
            if let double { return unsafe unsafeBitCast(double, to: type) }
        } else if type == Bool.self {
            if let bool { return unsafe unsafeBitCast(bool, to: type) }
        } else if type == [String].self {
            if let strings { return unsafe unsafeBitCast(strings, to: type) }
        }
        return try decode()
    }
}

// MARK: - UnkeyedValueDecoder

/// The unkeyed container of an array.
struct UnkeyedValueDecoder: UnkeyedDecodingContainer {
    let decoder: ValueDecoder
    let array: FleeceArray
    private(set) var currentIndex = 0

    init(decoder: ValueDecoder, array: FleeceArray) {
        self.decoder = decoder
        self.array = array
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { array.count }
    var isAtEnd: Bool { currentIndex >= array.count }

    /// The decoder for the next element, which must exist.
    private func element(for type: any Any.Type) throws -> ValueDecoder {
        let element = ValueDecoder(array[currentIndex], .index(currentIndex), of: decoder)
        guard !isAtEnd else {
            let description = "The array has only \(array.count) elements."
            throw DecodingError.valueNotFound(
                type, .init(codingPath: element.codingPath, debugDescription: description))
        }
        return element
    }

    /// Decodes the next element with `body`, and goes on only if that succeeds.
    private mutating func next<R>(_ body: (ValueDecoder) throws -> R) throws -> R {
        let result = try body(element(for: R.self))
        currentIndex += 1
        return result
    }

    /// Reads the next element, a scalar.
    @inline(__always)
    private mutating func scalar<T>(_ read: (FleeceValue) -> T?) throws -> T {
        guard let scalar = read(array[currentIndex]) else { throw try element(for: T.self).mismatch(T.self) }
        currentIndex += 1
        return scalar
    }

    mutating func decodeNil() -> Bool {
        guard array[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // Arrays of scalars come here and not to the functions below.
        let result = try array[currentIndex].scalar(type) { try element(for: type).decode(type) }
        currentIndex += 1
        return result
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try scalar(\.bool) }
    mutating func decode(_ type: String.Type) throws -> String { try scalar(\.string) }
    mutating func decode(_ type: Double.Type) throws -> Double { try scalar(\.double) }
    mutating func decode(_ type: Float.Type) throws -> Float { try scalar(\.float) }
    mutating func decode(_ type: Int.Type) throws -> Int { try scalar { $0.integer(Int.self) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try scalar { $0.integer(Int8.self) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try scalar { $0.integer(Int16.self) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try scalar { $0.integer(Int32.self) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try scalar { $0.integer(Int64.self) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try scalar { $0.integer(UInt.self) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar { $0.integer(UInt8.self) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar { $0.integer(UInt16.self) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar { $0.integer(UInt32.self) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar { $0.integer(UInt64.self) } }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
