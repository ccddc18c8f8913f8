import RoostBytes

/// A value in a body that somebody else keeps in memory: what a ``FleeceValue`` is, without a reference to count.
///
/// For code that looks at very many bodies one after another. Whoever makes a node keeps the bytes where they are for as
/// long as the node, or one that was reached from it, is used. Reading is checked as everywhere in this module: damaged
/// bytes give wrong answers, but never lead out of the body. Bodies with shared keys are not supported.
@safe package struct FleeceNode {
    private let base: UnsafeRawPointer
    private let count: UInt32
    private let offset: UInt32

    /// What a node holds, with scalars taken out.
    package enum Content {
        case undefined
        case null
        case bool(Bool)
        case integer(Int64)
        /// A whole number beyond `Int64`.
        case unsigned(UInt64)
        case double(Double)
        /// The UTF-8 of a string.
        case string(ByteView)
        case data(ByteView)
        case array
        case dictionary
    }

    /// The outermost value of a body.
    package init(root body: ByteView) {
        let root = unsafe body.buffer.bytes.root
        unsafe self.init(body.buffer, offset: root)
    }

    fileprivate init(_ body: UnsafeRawBufferPointer, offset: Int) {
        unsafe base = body.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
        count = UInt32(clamping: body.count)
        // An offset of no value is beyond every body.
        self.offset = offset < 0 ? .max : UInt32(clamping: offset)
    }

    private init(_ other: Self, offset: Int) {
        unsafe base = other.base
        count = other.count
        self.offset = offset < 0 ? .max : UInt32(clamping: offset)
    }

    /// The body. A span of it can't be a property: functions that return spans need a feature of the compiler that is
    /// experimental.
    @inline(__always)
    fileprivate var body: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: Int(count))
    }

    private func bytes(_ range: Range<Int>?) -> ByteView {
        guard let range else { return .empty }
        return unsafe ByteView(body.bytes.buffer(range))
    }

    /// What the node holds. O(1).
    package var content: Content {
        let view = unsafe body.bytes
        let at = Int(offset)
        let header = view.header(at: at)
        switch header.tag {
        case .smallInteger: return .integer(Int64(header.smallInteger))
        case .integer:
            return switch view.integer(at: at) {
            case .signed(let value): .integer(value)
            case .unsigned(let value): .unsigned(value)
            }
        case .float: return .double(view.double(at: at))
        case .string: return .string(bytes(view.content(at: at)))
        case .data: return .data(bytes(view.content(at: at)))
        case .array: return .array
        case .dictionary: return .dictionary
        case .special:
            switch header.special {
            case .null: return .null
            case .true: return .bool(true)
            case .false: return .bool(false)
            default: return .undefined
            }
        case nil: return .undefined
        }
    }

    /// How many elements an array or how many members a dictionary has; 0 for anything else. O(1).
    package var elementCount: Int { unsafe body.bytes.collection(at: Int(offset))?.count ?? 0 }

    /// The element of an array, counted from the end if negative; `nil` where there is none. O(1).
    package subscript(index: Int) -> FleeceNode? {
        let view = unsafe body.bytes
        guard view.header(at: Int(offset)).tag == .array, let layout = view.collection(at: Int(offset)) else {
            return nil
        }
        let index = index < 0 ? layout.count &+ index : index
        guard index >= 0, index < layout.count else { return nil }
        return node(view.resolve(itemAt: layout.first &+ index &* layout.stride, of: layout))
    }

    /// The member of a dictionary under a key in UTF-8; `nil` where there is none. O(log n).
    package subscript(key: ByteView) -> FleeceNode? {
        let view = unsafe body.bytes
        guard view.header(at: Int(offset)).tag == .dictionary,
            let layout = view.collection(at: Int(offset)),
            let pair = unsafe view.pair(withKey: key.buffer, in: layout)
        else { return nil }
        return node(view.value(ofPair: pair, in: layout))
    }

    /// The member of a dictionary under a key in UTF-8, which may stand at the same place as in another dictionary, where it was
    /// looked for before; `nil` where there is none. O(1) in dictionaries of the same keys, O(log n) in others.
    ///
    /// - Parameter place: Where it stood in the dictionary before, and where it stands in this one.
    package func member(_ key: ByteView, near place: inout UInt32) -> FleeceNode? {
        let view = unsafe body.bytes
        guard view.header(at: Int(offset)).tag == .dictionary,
            let layout = view.collection(at: Int(offset))
        else { return nil }
        let near = Int(place)
        if near < layout.count, unsafe view.isKey(key.buffer, ofPair: near, in: layout) {
            return node(view.value(ofPair: near, in: layout))
        }
        guard let pair = unsafe view.pair(withKey: key.buffer, in: layout) else { return nil }
        place = UInt32(clamping: pair)
        return node(view.value(ofPair: pair, in: layout))
    }

    /// The key and value of a dictionary's member, in the order of their bytes.
    package func member(_ index: Int) -> (key: ByteView, value: FleeceNode)? {
        let view = unsafe body.bytes
        guard view.header(at: Int(offset)).tag == .dictionary,
            let layout = view.collection(at: Int(offset)),
            index >= 0, index < layout.count, case .text(let key) = view.key(ofPair: index, in: layout),
            let value = node(view.value(ofPair: index, in: layout))
        else { return nil }
        return (bytes(key), value)
    }

    private func node(_ offset: Int) -> FleeceNode? { offset < 0 ? nil : FleeceNode(self, offset: offset) }
}

extension FleeceWriter {
    /// Writes a copy of a node's value.
    package mutating func write(_ node: FleeceNode) {
        append { output, depth in node.copy(to: &output, depth: depth) }
    }

    /// Writes a string that is well-formed UTF-8.
    package mutating func write(utf8 text: ByteView) { unsafe writeString(utf8: text.buffer) }

    /// Writes bytes as data.
    package mutating func write(data bytes: ByteView) { unsafe writeData(bytes.buffer) }

    /// Writes a key that is well-formed UTF-8.
    package mutating func key(utf8 text: ByteView) { unsafe key(utf8: text.buffer) }
}

extension FleeceNode {
    fileprivate func copy(to output: inout FleeceOutput, depth: Int) -> Item {
        unsafe output.copy(body.bytes, at: Int(offset), keys: nil, depth: depth)
    }
}

extension FleeceValue {
    /// Calls `body` with the value as a node, valid during the call. Its document has no shared keys.
    package func withNode<R>(_ body: (FleeceNode) -> R) -> R? {
        guard isSomewhere else { return nil }
        return unsafe document.bytes.withUnsafeBytes { bytes in
            unsafe body(FleeceNode(bytes, offset: offset))
        }
    }
}
