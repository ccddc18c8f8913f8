/// One Fleece body in memory, and the owner of its bytes.
///
/// Values read from it are offsets into these bytes with a reference to the document, so nothing is decoded
/// that is not asked for, and a value stays good for as long as somebody holds it. Documents are immutable
/// and may be read from any number of tasks at once.
///
/// ```swift
/// let document = try FleeceDocument(json: #"{"name": "Apus apus", "colours": ["black", "brown"]}"#)
/// document["name"].string          // "Apus apus"
/// document["colours"][0].string    // "black"
/// document["weight"]["grams"].int  // nil
/// ```
public struct FleeceDocument: Sendable {
    /// The body itself.
    public let bytes: [UInt8]

    /// The list that the integers among the dictionary keys refer to, as it was when the document was read.
    public let sharedKeys: SharedKeys?

    /// A body from anywhere, which is checked completely, once.
    ///
    /// Afterwards every access has a sensible answer: all strings are well-formed UTF-8, all numbers finite, keys
    /// sorted and known, nesting and the unfolded size bounded. Takes time and memory in proportion to the bytes.
    ///
    /// - Throws: ``FleeceError`` with the offset of the first fault found.
    public init(validating bytes: [UInt8], sharedKeys: SharedKeys? = nil) throws(FleeceError) {
        var validation = BodyValidation(sharedKeys: sharedKeys)
        try unsafe validation.validate(bytes.span.bytes)
        self.init(trusting: bytes, sharedKeys: sharedKeys)
    }

    /// A body that was validated or written by a ``FleeceWriter`` before, and protected by a checksum since.
    ///
    /// Nothing is checked in advance, which takes constant time. Should the bytes be damaged all the same, reading
    /// neither traps nor leaves them; it answers nonsense or ``FleeceValue/undefined``, and what walks through the
    /// whole body may take long.
    public init(trusting bytes: [UInt8], sharedKeys: SharedKeys? = nil) {
        self.bytes = bytes
        self.sharedKeys = sharedKeys
    }

    /// The outermost value, usually a dictionary. O(1).
    public var root: FleeceValue { FleeceValue(self, read { $0.root }) }

    /// The value of `key`, if the body is a dictionary and has the key; otherwise ``FleeceValue/undefined``.
    public subscript(key: String) -> FleeceValue {
        // Not by way of the root's value, which would count one more reference to the bytes.
        FleeceValue(self, offset(ofKey: key, inDictionaryAt: read { $0.root }))
    }

    /// The element at `index`, if the body is an array and has one; otherwise ``FleeceValue/undefined``.
    public subscript(index: Int) -> FleeceValue { root[index] }

    /// The value that `path` leads to from the root; ``FleeceValue/undefined`` if it leads nowhere.
    public subscript(path path: FleecePath) -> FleeceValue { root[path: path] }

    /// Calls `body` with the body's bytes.
    @inline(__always)
    func read<R>(_ body: (RawSpan) -> R) -> R {
        unsafe bytes.withUnsafeBytes { unsafe body($0.bytes) }
    }
}

extension FleeceDocument: CustomStringConvertible {
    /// The body as JSON text.
    public var description: String { root.description }
}
