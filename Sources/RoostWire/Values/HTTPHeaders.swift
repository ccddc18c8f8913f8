/// The fields of a request, a response or a part, in the order in which they came. Names are compared without regard to
/// upper and lower case (RFC 9110, section 5.1).
public struct HTTPHeaders: Sendable, Equatable {
    /// One field.
    public struct Field: Sendable, Equatable {
        /// The name as it was written.
        public let name: String
        /// The value without the white space around it.
        public let value: String
    }

    /// All fields.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}

    /// These fields, in this order.
    public init(_ fields: [(String, String)]) {
        self.fields = fields.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first field of that name. Assigning replaces all of them; `nil` removes them. O(n).
    public subscript(name: String) -> String? {
        get { fields.first { Self.areEqual($0.name, name) }?.value }
        set {
            fields.removeAll { Self.areEqual($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// The values of all fields of that name.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    /// Adds a field, whether there are others of that name or not.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether a list-valued field such as `Connection` has `token` among its elements.
    public func list(_ name: String, contains token: String) -> Bool {
        all(name).contains { value in
            value.split(separator: ",").contains { Self.areEqual(Self.trimmed($0), token) }
        }
    }

    /// Whether a client that sent these fields takes a content coding (RFC 9110, section 12.5.3). One that sent none gets what
    /// has none.
    public func acceptsCoding(_ coding: String) -> Bool {
        var accepted: Bool?
        for element in all("Accept-Encoding").flatMap({ $0.split(separator: ",") }) {
            let parts = element.split(separator: ";").map { Self.trimmed($0).lowercased() }
            guard let name = parts.first else { continue }
            let isRefused = parts.dropFirst().contains { parameter in
                let pair = parameter.split(separator: "=").map { Self.trimmed($0) }
                return pair.count == 2 && pair[0] == "q" && !(Double(pair[1]).map { $0 > 0 } ?? false)
            }
            if name == coding || name == "x-\(coding)" { return !isRefused }
            if name == "*" { accepted = !isRefused }
        }
        return accepted ?? false
    }

    /// Whether both are the same ASCII text but for upper and lower case.
    @inlinable package static func areEqual(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool
    {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8) { lower($0) == lower($1) }
    }

    package static func trimmed(_ text: some StringProtocol) -> String {
        var bytes = Array(text.utf8)[...]
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return String(decoding: bytes.drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
    }

    @inlinable static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// The fields as written, in this order.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}
