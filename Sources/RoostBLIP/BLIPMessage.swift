import RoostBytes

/// The properties of a message: texts by name, in the order of the wire. Names are compared by their bytes.
package struct BLIPProperties: Sendable, Equatable {
    /// The largest encoded properties, in bytes: what LiteCore takes.
    package static let limit = 100 << 10

    private(set) var pairs: [(name: [UInt8], value: [UInt8])] = []

    package init() {}

    /// The value of the first property of that name. A new value replaces it; `nil` removes it.
    package subscript(name: String) -> String? {
        get {
            pairs.first { $0.name.elementsEqual(name.utf8) }.map { String(decoding: $0.value, as: UTF8.self) }
        }
        set {
            pairs.removeAll { $0.name.elementsEqual(name.utf8) }
            if let newValue { pairs.append((Array(name.utf8), Array(newValue.utf8))) }
        }
    }

    /// The size of names and values, in bytes.
    var size: Int { pairs.reduce(0) { $0 + $1.name.count + $1.value.count } }

    /// Whether a property says yes, as LiteCore reads it: `true`, `YES` or a number other than 0.
    package func flag(_ name: String) -> Bool {
        guard let text = self[name] else { return false }
        if text.utf8.elementsEqual("true".utf8) || text.utf8.elementsEqual("YES".utf8) { return true }
        return Int64(text).map { $0 != 0 } ?? false
    }

    package static func == (a: BLIPProperties, b: BLIPProperties) -> Bool {
        a.pairs.elementsEqual(b.pairs) { $0.name == $1.name && $0.value == $1.value }
    }
}

/// A message of BLIP 3: properties and a body. Encoded, it is the length of the properties as a varint, each name and value with a
/// zero byte behind it, and the body.
package struct BLIPMessage: Sendable, Equatable {
    package var properties: BLIPProperties
    package var body: [UInt8]

    package init(_ properties: BLIPProperties = BLIPProperties(), body: [UInt8] = []) {
        self.properties = properties
        self.body = body
    }

    /// A reply that reports an error.
    ///
    /// - Parameter domain: `HTTP`, `BLIP`, `LiteCore` or another that the peer knows.
    package init(errorIn domain: String, code: Int, _ reason: String) {
        self.init(["Error-Domain": domain, "Error-Code": String(code)], body: Array(reason.utf8))
    }

    /// The bytes before the body.
    package var encodedProperties: [UInt8] {
        var block: [UInt8] = []
        for (name, value) in properties.pairs { block += name + [0] + value + [0] }
        var bytes: [UInt8] = []
        bytes.append(varint: UInt64(block.count))
        return bytes + block
    }

    package var encoded: [UInt8] { encodedProperties + body }

    /// Decodes a whole message.
    package init(decoding bytes: [UInt8]) throws(BLIPError) {
        var head = BLIPMessageHead()
        guard let (properties, rest) = try head.receive(bytes[...]) else {
            throw BLIPError("The message ends within its properties.")
        }
        self.init(properties, body: Array(rest))
    }
}

extension BLIPProperties: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral pairs: (String, String)...) {
        self.pairs = pairs.map { (Array($0.0.utf8), Array($0.1.utf8)) }
    }
}

/// Decodes the properties of a message that arrives in pieces.
package struct BLIPMessageHead: Sendable {
    private var pending: [UInt8] = []

    package init() {}

    /// Takes a piece.
    ///
    /// - Returns: The properties and what the piece has of the body, once all properties have arrived.
    /// - Throws: Properties beyond ``BLIPProperties/limit``, without a zero byte at the end, with a name that has no value, or
    ///   that are not UTF-8.
    package mutating func receive(
        _ piece: ArraySlice<UInt8>
    ) throws(BLIPError) -> (properties: BLIPProperties, rest: ArraySlice<UInt8>)? {
        pending += piece
        var offset = 0
        guard let length = pending.span.varint(at: &offset) else {
            guard pending.count < 10, pending.last.map({ $0 >= 0x80 }) ?? true else {
                throw BLIPError("The length of the properties is malformed.")
            }
            return nil
        }
        guard length <= UInt64(BLIPProperties.limit) else { throw BLIPError("The properties are too large.") }
        let end = offset + Int(length)
        guard pending.count >= end else { return nil }
        let properties = try BLIPProperties(decoding: pending[offset..<end])
        return (properties, pending[end...])
    }
}

extension BLIPProperties {
    fileprivate init(decoding block: ArraySlice<UInt8>) throws(BLIPError) {
        self.init()
        guard !block.isEmpty else { return }
        guard block.last == 0 else { throw BLIPError("The properties do not end with a zero byte.") }
        let texts = block.dropLast().split(separator: 0, omittingEmptySubsequences: false)
        guard texts.count % 2 == 0 else { throw BLIPError("A property has no value.") }
        for index in stride(from: 0, to: texts.count, by: 2) {
            guard String(validating: texts[index], as: UTF8.self) != nil,
                String(validating: texts[index + 1], as: UTF8.self) != nil
            else { throw BLIPError("A property is not UTF-8.") }
            pairs.append((Array(texts[index]), Array(texts[index + 1])))
        }
    }
}

/// Bytes that break the BLIP protocol. The connection can't go on: its owner closes it.
package struct BLIPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    package let description: String

    package init(_ description: String) { self.description = description }
}
