extension FleeceWriter {
    /// Writes the value that a JSON text describes, as RFC 8259 defines it.
    ///
    /// One pass, nothing in between. What JSON leaves open is answered like this:
    ///
    /// - Integers from -2⁶³ to 2⁶⁴ - 1 stay integers; greater ones become the nearest double.
    /// - Numbers with a fraction or an exponent become the nearest double, even if whole; so does `-0`. A number
    ///   beyond a double's range is an error.
    /// - If a key occurs twice in an object, the last value counts.
    /// - Ill-formed UTF-8, an escape with half of a surrogate pair, and a byte order mark are errors; `\u0000` is not.
    /// - Nesting deeper than ``FleeceLimits/maximumDepth`` is an error, and so are comments, trailing commas and
    ///   whatever else JSON5 adds.
    ///
    /// - Throws: ``FleeceError`` with offset, line and column. The body begun is lost: call ``removeAll()``.
    public mutating func write(json text: String) throws(FleeceError) {
        try write(json: text.utf8)
    }

    /// Writes the value that a JSON text in UTF-8 describes: see ``write(json:)-(String)``.
    @inlinable
    public mutating func write(json text: some Sequence<UInt8>) throws(FleeceError) {
        let failure =
            unsafe text.withContiguousStorageIfAvailable { unsafe parse(json: $0) }
            ?? ContiguousArray(text).withUnsafeBufferPointer { unsafe parse(json: $0) }
        if let failure { throw failure }
    }

    /// Writes a JSON object without the pairs whose keys `isApart` accepts; those become a dictionary in `other`.
    ///
    /// - Parameter isApart: Called with the UTF-8 of each of the object's own keys.
    /// - Returns: Whether there were such pairs; without them nothing is written to `other`. A text that is no object is
    ///   written as it is.
    /// - Throws: As ``write(json:)-(String)``. Both bodies begun are lost: call ``removeAll()``.
    package mutating func write(
        json text: some Sequence<UInt8>, separating isApart: (UnsafeRawBufferPointer) -> Bool,
        into other: inout FleeceWriter
    ) throws(FleeceError) -> Bool {
        let result =
            unsafe text.withContiguousStorageIfAvailable {
                unsafe parse(json: $0, separating: isApart, &other)
            }
            ?? ContiguousArray(text).withUnsafeBufferPointer {
                unsafe parse(json: $0, separating: isApart, &other)
            }
        return try result.get()
    }

    private mutating func parse(
        json text: UnsafeBufferPointer<UInt8>, separating isApart: (UnsafeRawBufferPointer) -> Bool,
        _ other: inout FleeceWriter
    ) -> Result<Bool, FleeceError> {
        var parser = unsafe JSONParser(UnsafeRawBufferPointer(text))
        do throws(FleeceError) {
            return unsafe .success(try parser.parse(into: &self, separating: isApart, into: &other))
        } catch {
            return .failure(error)
        }
    }

    @usableFromInline
    mutating func parse(json text: UnsafeBufferPointer<UInt8>) -> FleeceError? {
        var parser = unsafe JSONParser(UnsafeRawBufferPointer(text))
        do throws(FleeceError) {
            try parser.parse(into: &self)
            return nil
        } catch {
            return error
        }
    }
}

extension FleeceDocument {
    /// A new body with the content of a JSON text: see ``FleeceWriter/write(json:)-(String)``.
    ///
    /// - Throws: ``FleeceError`` with offset, line and column.
    public init(json text: String) throws(FleeceError) {
        var writer = FleeceWriter(capacity: text.utf8.count)
        try writer.write(json: text)
        self.init(trusting: try writer.finish())
    }

    /// A new body with the content of a JSON text in UTF-8: see ``FleeceWriter/write(json:)-(String)``.
    ///
    /// - Throws: ``FleeceError`` with offset, line and column.
    public init(json text: some Collection<UInt8>) throws(FleeceError) {
        var writer = FleeceWriter(capacity: text.count)
        try writer.write(json: text)
        self.init(trusting: try writer.finish())
    }
}

extension FleeceValue {
    /// The value as JSON text.
    ///
    /// Floating-point numbers get the shortest digits that read as the same number, and always a fraction or an
    /// exponent; data becomes a string in Base64; keys with the value `undefined` are left out, and ``undefined``
    /// itself is `null`. Everything else reads as what it was.
    public func json(_ format: JSONFormat = .compact) -> String {
        unsafe withJSON(format) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The value as JSON text in UTF-8: see ``json(_:)``.
    public func jsonBytes(_ format: JSONFormat = .compact) -> [UInt8] {
        unsafe withJSON(format) { unsafe [UInt8]($0) }
    }

    private func withJSON<R>(_ format: JSONFormat, _ body: (UnsafeMutableBufferPointer<UInt8>) -> R) -> R {
        let size = document.bytes.count
        var writer = JSONWriter(format: format, sharedKeys: document.sharedKeys, capacity: size + size / 4)
        if isSomewhere {
            document.read { writer.write($0, at: offset) }
        } else {
            writer.writeNull()
        }
        return unsafe body(writer.output.elements)
    }
}

extension [UInt8] {
    /// Appends the JSON string that stands for `text`, with the escapes that JSON demands and no others.
    package mutating func append(jsonString text: String) {
        var text = text
        text.withUTF8 { text in
            var writer = JSONWriter(format: .compact, sharedKeys: nil, capacity: text.count + 2)
            unsafe writer.write(string: UnsafeRawBufferPointer(text))
            unsafe append(contentsOf: writer.output.elements)
        }
    }
}

extension FleeceValue: CustomStringConvertible {
    /// The value as compact JSON text; `undefined` where there is none.
    public var description: String { exists ? json() : "undefined" }
}

// MARK: - JSONFormat

/// How JSON text is laid out.
public enum JSONFormat: Sendable {
    /// Without any space; keys in the order of the body.
    case compact
    /// On several lines, indented by two spaces; keys in the order of the body.
    case pretty
    /// Without any space and with keys sorted by their UTF-8 bytes: the same text for the same content, whatever
    /// the shared keys. Data stands between `<` and `>` in place of quotation marks, so that it differs from a text that
    /// looks like it; where there is data it is therefore not JSON. For comparisons.
    case canonical
}
