/// The keyed container of a dictionary.
///
/// Decoders, which know their path, are only made for values that are no scalars, and for errors.
struct KeyedValueDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    // Nothing but this: each call of a container copies it, and counts the references that it holds.
    let decoder: ValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.value.dictionary?.keys.compactMap(Key.init(stringValue:)) ?? [] }

    func contains(_ key: Key) -> Bool { isIdentifier(key) || value(key).exists }

    /// Whether `key` is that of the root's name.
    @inline(__always)
    private func isIdentifier(_ key: some CodingKey) -> Bool {
        guard decoder.hasIdentifier else { return false }
        let name = key.stringValue
        return name == "id" || name == "_id"
    }

    private func identifier(_ key: some CodingKey) -> String? {
        isIdentifier(key) ? decoder.identifier : nil
    }

    private func value(_ key: some CodingKey) -> FleeceValue {
        isIdentifier(key) ? decoder.identifierValue : decoder.value[key.stringValue]
    }

    /// The value of `key`, or its default, one of which must exist.
    private func valueOrDefault(_ key: some CodingKey) throws -> FleeceValue {
        let value = value(key)
        if value.exists { return value }
        let standard = try decoder.defaultValue(key.stringValue)
        guard standard.exists else { throw missing(key) }
        return standard
    }

    /// The decoder for the value of `key`, which must exist.
    private func element(_ key: some CodingKey) throws -> ValueDecoder {
        ValueDecoder(try valueOrDefault(key), .key(key), of: decoder)
    }

    private func missing(_ key: some CodingKey) -> DecodingError {
        let description = "There is no value for the key “\(key.stringValue)”."
        return .keyNotFound(key, .init(codingPath: codingPath, debugDescription: description))
    }

    /// Reads a scalar, which must exist.
    @inline(__always)
    private func scalar<T>(_ key: Key, _ read: (FleeceValue) -> T?) throws -> T {
        if let scalar = read(value(key)) { return scalar }
        if let scalar = read(try valueOrDefault(key)) { return scalar }
        throw try element(key).mismatch(T.self)
    }

    /// Reads a scalar, if there is one.
    @inline(__always)
    private func scalarIfPresent<T>(_ key: Key, _ read: (FleeceValue) -> T?) throws -> T? {
        let value = value(key)
        if let scalar = read(value) { return scalar }
        if !value.exists || value.isNull { return nil }
        throw try element(key).mismatch(T.self)
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try valueOrDefault(key).isNull
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try element(key).decode(type) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let value = value(key)
        if !value.exists || value.isNull { return nil }
        return try ValueDecoder(value, .key(key), of: decoder).decode(type)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(key, \.bool) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try identifier(key) ?? scalar(key, \.string)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(key, \.double) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(key, \.float) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(key) { $0.integer(Int.self) } }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try scalar(key) { $0.integer(Int8.self) }
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try scalar(key) { $0.integer(Int16.self) }
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try scalar(key) { $0.integer(Int32.self) }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try scalar(key) { $0.integer(Int64.self) }
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try scalar(key) { $0.integer(UInt.self) }
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try scalar(key) { $0.integer(UInt8.self) }
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try scalar(key) { $0.integer(UInt16.self) }
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try scalar(key) { $0.integer(UInt32.self) }
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try scalar(key) { $0.integer(UInt64.self) }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try scalarIfPresent(key, \.bool)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try identifier(key) ?? scalarIfPresent(key, \.string)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try scalarIfPresent(key, \.double)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try scalarIfPresent(key, \.float)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try scalarIfPresent(key) { $0.integer(Int.self) }
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try scalarIfPresent(key) { $0.integer(Int8.self) }
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try scalarIfPresent(key) { $0.integer(Int16.self) }
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try scalarIfPresent(key) { $0.integer(Int32.self) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try scalarIfPresent(key) { $0.integer(Int64.self) }
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try scalarIfPresent(key) { $0.integer(UInt.self) }
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try scalarIfPresent(key) { $0.integer(UInt8.self) }
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try scalarIfPresent(key) { $0.integer(UInt16.self) }
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try scalarIfPresent(key) { $0.integer(UInt32.self) }
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try scalarIfPresent(key) { $0.integer(UInt64.self) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try element(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try element(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try element(PlainKey.super) }

    /// A missing value decodes as nil, as with Foundation's JSONDecoder.
    func superDecoder(forKey key: Key) -> any Decoder { ValueDecoder(value(key), .key(key), of: decoder) }
}
