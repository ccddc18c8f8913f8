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
