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

// MARK: - FleeceArray

/// An array in a ``FleeceDocument``, read in place. Reaching any element takes constant time.
public struct FleeceArray: Sendable, RandomAccessCollection {
    private let document: FleeceDocument
    private let offset: Int
    private let layout: CollectionLayout

    /// The array at `value`; `nil` if that is something else.
    init?(_ value: FleeceValue) {
        guard value.header.tag == .array,
            let layout = value.document.read({ $0.collection(at: value.offset) })
        else { return nil }
        document = value.document
        self.layout = layout
        offset = value.offset
    }

    /// An array without elements, for `value.array ?? .empty`.
    public static let empty: Self = {
        // A narrow value with a count of 0, as Fleece.md has it.
        Self(FleeceDocument(trusting: [0x60, 0x00]).root)!
    }()

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of elements.
    public var endIndex: Int { layout.count }

    /// The element at `index`; ``FleeceValue/undefined`` outside of the array.
    public subscript(index: Int) -> FleeceValue {
        guard index >= 0, index < layout.count else { return .undefined }
        let place = layout.first &+ index &* layout.stride
        return FleeceValue(document, document.read { $0.resolve(itemAt: place, of: layout) })
    }
}

extension FleeceValue {
    /// The array; `nil` for any other kind. Decodes nothing.
    public var array: FleeceArray? { FleeceArray(self) }
}

extension FleeceArray: CustomStringConvertible {
    /// The array as JSON text.
    public var description: String { FleeceValue(document, offset).description }
}

// MARK: - FleeceDictionary

/// A dictionary in a ``FleeceDocument``, read in place.
///
/// As a collection it has one element for every key, in the order of the format: shared keys by their numbers,
/// then the others by their bytes. To find one key, the subscript's binary search is the way.
public struct FleeceDictionary: Sendable, RandomAccessCollection {
    /// A key and its value.
    public typealias Element = (key: String, value: FleeceValue)

    private let document: FleeceDocument
    private let offset: Int
    private let layout: CollectionLayout

    /// The dictionary at `value`; `nil` if that is something else.
    init?(_ value: FleeceValue) {
        guard value.header.tag == .dictionary,
            let layout = value.document.read({ $0.collection(at: value.offset) })
        else { return nil }
        document = value.document
        self.layout = layout
        offset = value.offset
    }

    /// A dictionary without keys, for `value.dictionary ?? .empty`.
    public static let empty: Self = {
        // A narrow value with a count of 0, as Fleece.md has it.
        Self(FleeceDocument(trusting: [0x70, 0x00]).root)!
    }()

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of keys.
    public var endIndex: Int { layout.count }

    /// The key and value at a position; an empty key and ``FleeceValue/undefined`` outside of the dictionary.
    public subscript(position: Int) -> Element {
        guard position >= 0, position < layout.count else { return ("", .undefined) }
        return document.read { view in
            let key = document.string(of: view.key(ofPair: position, in: layout), in: view)
            return (key, FleeceValue(document, view.value(ofPair: position, in: layout)))
        }
    }

    /// The value of `key`; ``FleeceValue/undefined`` if there is none. O(log n).
    public subscript(key: String) -> FleeceValue { FleeceValue(document, offset)[key] }

    /// Whether there is a key whose UTF-8 begins with `byte`. O(n), without making strings.
    package func hasKey(beginningWith byte: UInt8) -> Bool {
        document.read { view in
            (0..<layout.count).contains { pair in
                guard case .text(let key) = view.key(ofPair: pair, in: layout) else { return false }
                return !key.isEmpty && view.byte(at: key.lowerBound) == byte
            }
        }
    }

    /// All keys, in the order of the elements.
    public var keys: [String] {
        document.read { view in
            (0..<layout.count).map { document.string(of: view.key(ofPair: $0, in: layout), in: view) }
        }
    }
}

extension FleeceDocument {
    /// The key as a string; an unknown number as `#7`, which no validated body has.
    func string(of key: StoredKey?, in view: RawSpan) -> String {
        switch key {
        case .number(let number): sharedKeys?[number] ?? "#\(number)"
        case .text(let range): unsafe String(decoding: view.buffer(range), as: UTF8.self)
        case nil: ""
        }
    }
}

extension FleeceValue {
    /// The dictionary; `nil` for any other kind. Decodes nothing.
    public var dictionary: FleeceDictionary? { FleeceDictionary(self) }
}

extension FleeceDictionary: CustomStringConvertible {
    /// The dictionary as JSON text.
    public var description: String { FleeceValue(document, offset).description }
}
