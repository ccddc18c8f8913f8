import Fleece
import Foundation
import Testing

/// Every kind of scalar in every kind of container, and containers that are taken apart by hand.
@Suite struct ScalarCodableTests {
    struct Scalars: Codable, Equatable {
        var bool: Bool
        var string: String
        var double: Double
        var float: Float
        var int: Int
        var int8: Int8
        var int16: Int16
        var int32: Int32
        var int64: Int64
        var uint: UInt
        var uint8: UInt8
        var uint16: UInt16
        var uint32: UInt32
        var uint64: UInt64

        static let greatest = Self(
            bool: true, string: "é", double: .greatestFiniteMagnitude, float: .greatestFiniteMagnitude,
            int: .max, int8: .max, int16: .max, int32: .max, int64: .max, uint: .max, uint8: .max,
            uint16: .max, uint32: .max, uint64: .max)
        static let least = Self(
            bool: false, string: "", double: -.leastNonzeroMagnitude, float: -.leastNonzeroMagnitude,
            int: .min, int8: .min, int16: .min, int32: .min, int64: .min, uint: 0, uint8: 0, uint16: 0,
            uint32: 0, uint64: 0)
    }

    struct Optionals: Codable, Equatable {
        var bool: Bool?
        var string: String?
        var double: Double?
        var float: Float?
        var int: Int?
        var int8: Int8?
        var int16: Int16?
        var int32: Int32?
        var int64: Int64?
        var uint: UInt?
        var uint8: UInt8?
        var uint16: UInt16?
        var uint32: UInt32?
        var uint64: UInt64?
    }

    /// The same as an array, with a null before them.
    struct Listed: Codable, Equatable {
        var scalars: Scalars

        init(_ scalars: Scalars) { self.scalars = scalars }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encodeNil()
            try list.encode(scalars.bool)
            try list.encode(scalars.string)
            try list.encode(scalars.double)
            try list.encode(scalars.float)
            try list.encode(scalars.int)
            try list.encode(scalars.int8)
            try list.encode(scalars.int16)
            try list.encode(scalars.int32)
            try list.encode(scalars.int64)
            try list.encode(scalars.uint)
            try list.encode(scalars.uint8)
            try list.encode(scalars.uint16)
            try list.encode(scalars.uint32)
            try list.encode(scalars.uint64)
            #expect(list.count == 15 && list.codingPath.isEmpty)
        }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            #expect(list.count == 15)
            #expect(try list.decodeNil() && !list.decodeNil())
            scalars = Scalars(
                bool: try list.decode(Bool.self), string: try list.decode(String.self),
                double: try list.decode(Double.self), float: try list.decode(Float.self),
                int: try list.decode(Int.self), int8: try list.decode(Int8.self),
                int16: try list.decode(Int16.self), int32: try list.decode(Int32.self),
                int64: try list.decode(Int64.self), uint: try list.decode(UInt.self),
                uint8: try list.decode(UInt8.self), uint16: try list.decode(UInt16.self),
                uint32: try list.decode(UInt32.self), uint64: try list.decode(UInt64.self))
            #expect(list.isAtEnd)
            #expect(throws: DecodingError.self) { _ = try list.decode(Int.self) }
            #expect(throws: DecodingError.self) { _ = try list.decode([Int].self) }
        }
    }

    private func coded<T: Codable>(_ value: T) throws -> T {
        let document = try FleeceDocument(validating: FleeceEncoder().encode(value))
        return try FleeceDecoder().decode(T.self, from: document.root)
    }

    private func decode<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
        try FleeceDecoder().decode(type, from: FleeceDocument(json: json).root)
    }

    @Test(arguments: [Scalars.least, .greatest])
    func extremesComeBack(_ scalars: Scalars) throws {
        #expect(try coded(scalars) == scalars)
        #expect(try coded(Listed(scalars)) == Listed(scalars))
        let body = try FleeceEncoder().encode(scalars)
        let optionals = try FleeceDecoder().decode(
            Optionals.self, from: FleeceDocument(validating: body).root)
        #expect(try FleeceEncoder().encode(optionals) == body)
    }

    @Test func whatIsMissingOrNullIsNil() throws {
        #expect(try decode(Optionals.self, "{}") == Optionals())
        let nulls = #"{"bool":null,"string":null,"float":null,"int8":null,"uint64":null}"#
        #expect(try decode(Optionals.self, nulls) == Optionals())
        #expect(throws: DecodingError.self) { _ = try decode(Scalars.self, "{}") }
        #expect(throws: DecodingError.self) { _ = try decode(Scalars.self, nulls) }
    }

    @Test(arguments: [
        #"{"int8":128}"#, #"{"int8":-129}"#, #"{"int16":32768}"#, #"{"int32":2147483648}"#,
        #"{"int64":9223372036854775808}"#, #"{"uint":-1}"#, #"{"uint8":256}"#, #"{"uint16":65536}"#,
        #"{"uint32":4294967296}"#, #"{"uint64":-1}"#, #"{"int":1.5}"#, #"{"bool":1}"#, #"{"string":1}"#,
        #"{"double":"1"}"#, #"{"float":true}"#,
    ])
    func whatDoesNotFitIsAnError(_ json: String) throws {
        #expect(throws: DecodingError.self) { _ = try decode(Optionals.self, json) }
    }

    @Test func scalarsAreRootsOfEveryKind() throws {
        func expect<T: FixedWidthInteger & Codable>(_ type: T.Type) throws {
            for value in [T.min, 0, T.max] { #expect(try coded(value) == value) }
        }
        try expect(Int.self)
        try expect(Int8.self)
        try expect(Int16.self)
        try expect(Int32.self)
        try expect(Int64.self)
        try expect(UInt.self)
        try expect(UInt8.self)
        try expect(UInt16.self)
        try expect(UInt32.self)
        try expect(UInt64.self)
        #expect(try coded(true) && !coded(false))
        #expect(throws: DecodingError.self) { _ = try decode(UInt8.self, "256") }
    }

    /// Reads `{"a":{"x":1},"b":[[2],{"x":3},null],"c":null}` by nested containers.
    struct TakenApart: Decodable {
        enum Key: CodingKey { case a, b, c, d, x }
        init(from decoder: any Decoder) throws {
            let outer = try decoder.container(keyedBy: Key.self)
            #expect(outer.contains(.a) && !outer.contains(.d))
            #expect(try outer.decodeNil(forKey: .c) && !outer.decodeNil(forKey: .a))
            #expect(throws: DecodingError.self) { _ = try outer.decodeNil(forKey: .d) }
            #expect(
                try outer.nestedContainer(keyedBy: Key.self, forKey: .a).decode(Int.self, forKey: .x) == 1)
            var list = try outer.nestedUnkeyedContainer(forKey: .b)
            var inner = try list.nestedUnkeyedContainer()
            #expect(try inner.decode(Int.self) == 2)
            #expect(list.codingPath.map(\.stringValue) == ["b"])
            #expect(try list.nestedContainer(keyedBy: Key.self).decode(Int.self, forKey: .x) == 3)
            #expect(try list.decodeNil() && list.isAtEnd)
            #expect(throws: DecodingError.self) {
                _ = try outer.nestedContainer(keyedBy: Key.self, forKey: .b)
            }
            #expect(throws: DecodingError.self) { _ = try outer.nestedUnkeyedContainer(forKey: .a) }
        }
    }

    @Test func containersAreTakenApart() throws {
        _ = try decode(TakenApart.self, #"{"a":{"x":1},"b":[[2],{"x":3},null],"c":null}"#)
    }

    @Test func textThatIsNoURLOrDateIsAnError() throws {
        #expect(throws: DecodingError.self) { _ = try decode([Date].self, #"["yesterday"]"#) }
        #expect(throws: DecodingError.self) { _ = try decode([URL].self, #"[""]"#) }
        #expect(throws: DecodingError.self) { _ = try decode([Data].self, "[1]") }
    }
}
