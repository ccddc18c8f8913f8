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
