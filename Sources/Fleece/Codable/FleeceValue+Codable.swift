import RoostBytes

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
