import Fleece

extension DocumentValue {
    /// The value that a JSON text describes.
    ///
    /// - Throws: `invalidDocument` for text that is not JSON, with line and column.
    public init(json: String) throws(DatabaseError) {
        let document = try translating { () throws(FleeceError) in try FleeceDocument(json: json) }
        self = Self(document.root) ?? .null
    }

    /// The value as JSON text; see ``Document/json(_:)``.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite, `limitExceeded` for too deep nesting.
    public func json(_ format: JSONFormat = .compact) throws(DatabaseError) -> String {
        try fleece().root.json(format)
    }

    private func fleece() throws(DatabaseError) -> FleeceDocument {
        FleeceDocument(trusting: try fleeceBytes())
    }

    /// The value as a Fleece body.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite, `limitExceeded` for too deep nesting.
    package func fleeceBytes() throws(DatabaseError) -> [UInt8] {
        var writer = FleeceWriter()
        write(to: &writer)
        return try translating { () throws(FleeceError) in try writer.finish() }
    }
}

extension DocumentValue: CustomStringConvertible {
    /// The value as JSON text.
    public var description: String { (try? json()) ?? "(not storable)" }
}

extension DocumentValue: Codable {
    /// Takes whatever the decoder holds.
    public init(from decoder: any Decoder) throws {
        self = Self(try FleeceValue(from: decoder)) ?? .null
    }

    /// Encodes the value with any encoder.
    public func encode(to encoder: any Encoder) throws {
        try fleece().root.encode(to: encoder)
    }
}
