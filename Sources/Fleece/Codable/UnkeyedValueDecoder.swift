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
