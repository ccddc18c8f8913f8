/// Decodes one value.
struct ValueDecoder {
    let value: FleeceValue
    let path: CodingPath
    let state: DecodingState

    init(_ value: FleeceValue, path: CodingPath, state: DecodingState) {
        self.value = value
        self.path = path
        self.state = state
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if type == FleeceValue.self, let value = value as? T { return value }
        return try foundationValue(type) ?? T(from: self)
    }

    func bool() throws -> Bool {
        guard let bool = value.bool else { throw mismatch(Bool.self) }
        return bool
    }

    func string() throws -> String {
        guard let string = value.string else { throw mismatch(String.self) }
        return string
    }

    func double() throws -> Double {
        guard let double = value.double else { throw mismatch(Double.self) }
        return double
    }

    func float() throws -> Float {
        let float = Float(try double())
        guard float.isFinite else { throw corrupted("\(value) is beyond the range of Float.") }
        return float
    }

    func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) throws -> T {
        if let integer = value.integer(type) { return integer }
        guard value.kind == .integer || value.kind == .double else { throw mismatch(type) }
        throw corrupted("\(value) does not fit \(type).")
    }

    func mismatch(_ type: any Any.Type) -> DecodingError {
        if !value.exists || value.isNull {
            return .valueNotFound(
                type, .init(codingPath: codingPath, debugDescription: "\(type) is expected, not \(value)."))
        }
        let description = "\(type) is expected, not \(value.kind)."
        return .typeMismatch(type, .init(codingPath: codingPath, debugDescription: description))
    }

    func corrupted(_ description: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: description))
    }
}

extension ValueDecoder: Decoder {
    var codingPath: [any CodingKey] { path.keys }

    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let dictionary = value.dictionary else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(KeyedValueDecoder(decoder: self, dictionary: dictionary))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let array = value.array else { throw mismatch([Any].self) }
        return UnkeyedValueDecoder(decoder: self, array: array)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try bool() }
    func decode(_ type: String.Type) throws -> String { try string() }
    func decode(_ type: Double.Type) throws -> Double { try double() }
    func decode(_ type: Float.Type) throws -> Float { try float() }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
}
