/// A value in a ``FleeceDocument``: a scalar, an array, a dictionary, null, or no value at all.
///
/// Looking for something that is not there answers ``undefined``, and so does every look into that, so that a
/// chain of subscripts needs no unwrapping until its end:
///
/// ```swift
/// document["address"]["street"].string   // nil if there is no address, no street, or no string
/// document["address"].isNull             // true only if the document says null
/// ```
///
/// Typed properties never convert between kinds, except integers to floating point and whole numbers to integers.
public struct FleeceValue: Sendable {
    /// What a value is.
    public enum Kind: Sendable, Hashable {
        /// There is no value; or, rarely, the format's explicit `undefined`.
        case undefined
        /// JSON's null, which is a value.
        case null
        /// A truth value.
        case bool
        /// A whole number of 64 bits with or without sign.
        case integer
        /// A floating-point number, which may be whole: 1.0.
        case double
        /// Text in UTF-8.
        case string
        /// Bytes. In JSON text they are a string in Base64.
        case data
        /// A list of values.
        case array
        /// Values by name.
        case dictionary
    }

    let document: FleeceDocument
    let offset: Int

    /// The value with its bytes at `offset`, which is no pointer's; no value where that is ``RawSpan/nowhere``.
    @inline(__always)
    init(_ document: FleeceDocument, _ offset: Int) {
        self.document = document
        self.offset = offset
    }

    /// No value.
    public static let undefined = FleeceValue(FleeceDocument(trusting: []), RawSpan.nowhere)

    /// Whether there are bytes of a value, be they those of the format's explicit `undefined`.
    @inline(__always)
    var isSomewhere: Bool { offset >= 0 }

    @inline(__always)
    var header: Header { document.read { $0.header(at: offset) } }

    /// What the value is.
    public var kind: Kind {
        let header = header
        return switch header.tag {
        case .smallInteger, .integer: .integer
        case .float: .double
        case .special where header.special == .null: .null
        case .special where header.special == .undefined: .undefined
        case .special: .bool
        case .string: .string
        case .data: .data
        case .array: .array
        case .dictionary: .dictionary
        case nil: .undefined
        }
    }

    /// Whether there is a value; null is one.
    public var exists: Bool { kind != .undefined }

    /// Whether the value is null; false where there is none.
    public var isNull: Bool {
        let header = header
        return header.tag == .special && header.special == .null
    }

    /// The value of `key` if this is a dictionary that has it; otherwise ``undefined``.
    ///
    /// O(log n) comparisons of keys; values are not touched.
    public subscript(key: String) -> FleeceValue {
        FleeceValue(document, document.offset(ofKey: key, inDictionaryAt: offset))
    }

    /// The element at `index` if this is an array that has it; otherwise ``undefined``. O(1).
    public subscript(index: Int) -> FleeceValue {
        FleeceValue(document, document.offset(ofElement: index, inArrayAt: offset))
    }

    /// The value that `path` leads to from here; ``undefined`` if it leads nowhere.
    public subscript(path path: FleecePath) -> FleeceValue {
        path.components.reduce(self) { value, component in
            switch component {
            case .key(let key): value[key]
            case .index(let index): value[index < 0 ? (value.array?.count ?? 0) + index : index]
            }
        }
    }
}

extension FleeceDocument {
    func offset(ofElement index: Int, inArrayAt offset: Int) -> Int {
        read { view in
            guard view.header(at: offset).tag == .array, let layout = view.collection(at: offset),
                index >= 0, index < layout.count
            else { return RawSpan.nowhere }
            return view.resolve(itemAt: layout.first &+ index &* layout.stride, of: layout)
        }
    }

    /// The offset of the value for `key` in the dictionary at `offset`, ``RawSpan/nowhere`` without.
    func offset(ofKey key: String, inDictionaryAt offset: Int) -> Int {
        var key = key
        return key.withUTF8 {
            unsafe self.offset(ofKey: UnsafeRawBufferPointer($0), inDictionaryAt: offset)
        }
    }

    private func offset(ofKey key: UnsafeRawBufferPointer, inDictionaryAt offset: Int) -> Int {
        read { view in
            guard view.header(at: offset).tag == .dictionary, let layout = view.collection(at: offset),
                layout.count > 0
            else { return RawSpan.nowhere }
            var pair: Int?
            if let number = unsafe sharedKeys?.number(ofUTF8: key) {
                pair = view.pair(withNumber: number, in: layout)
            }
            // A body from elsewhere may spell out a key that is shared here.
            guard let pair = unsafe pair ?? view.pair(withKey: key, in: layout) else {
                return RawSpan.nowhere
            }
            return view.value(ofPair: pair, in: layout)
        }
    }
}
