/// Encodes one value: a scalar, or a collection while it grows.
///
/// Also stands for the containers of that collection. A nested container or super encoder leaves a gap in its
/// parent, which is filled when the parent is complete.
@safe final class ValueEncoder {
    let state: EncodingState
    let path: CodingPath
    /// How many values are around this one; at least the number of collections.
    let depth: Int
    private var kind: Header.Tag?
    /// The scalar, or the elements, or keys and values in turn. Unchecked as the state's output is.
    private var items: [Item] {
        @inline(__always) _read { yield unsafe uncheckedItems }
        @inline(__always) _modify { yield unsafe &uncheckedItems }
    }
    @exclusivity(unchecked) private var uncheckedItems: [Item] = []
    private var gaps: [(index: Int, encoder: ValueEncoder)] = []
    /// The keys whose members stand apart, given as UTF-8, and where they go.
    private let separation: (isApart: (UnsafeRawBufferPointer) -> Bool, others: ValueEncoder)?

    init(_ state: EncodingState, path: CodingPath, depth: Int) {
        self.state = state
        self.path = path
        self.depth = depth
        unsafe separation = nil
    }

    /// An encoder of a dictionary, whose members with keys that `isApart` accepts go to another one.
    init(
        _ state: EncodingState, path: CodingPath, depth: Int,
        separating isApart: @escaping (UnsafeRawBufferPointer) -> Bool, into others: ValueEncoder
    ) {
        self.state = state
        self.path = path
        self.depth = depth
        unsafe separation = (isApart, others)
        others.become(.dictionary)
    }

    /// Where the member with this key goes.
    @inline(__always)
    func encoder(of key: some CodingKey) -> ValueEncoder {
        guard let separation = unsafe separation else { return self }
        var text = key.stringValue
        let isApart = text.withUTF8 { unsafe separation.isApart(UnsafeRawBufferPointer($0)) }
        return unsafe isApart ? separation.others : self
    }

    /// The number of elements so far.
    var count: Int { items.count }

    /// Makes this value a collection, which it may be already.
    func become(_ tag: Header.Tag) {
        if kind != tag {
            kind = tag
            items.removeAll()
            gaps.removeAll()
        }
    }

    /// Makes this value a scalar.
    func become(scalar item: Item) {
        become(.special)
        items = [item]
    }

    func append(_ item: Item) {
        items.append(item)
    }

    func append(key: some CodingKey, _ item: Item) {
        items.append(self.item(forKey: key))
        items.append(item)
    }

    private func item(forKey key: some CodingKey) -> Item {
        var key = key.stringValue
        return key.withUTF8 { unsafe state.output.key(UnsafeRawBufferPointer($0)) }
    }

    /// Leaves a gap that the answered encoder fills.
    func appendGap(at path: CodingPath) -> ValueEncoder {
        let encoder = ValueEncoder(state, path: path, depth: depth + 1)
        gaps.append((items.count, encoder))
        items.append(.null)
        return encoder
    }

    func appendGap(key: some CodingKey) -> ValueEncoder {
        items.append(item(forKey: key))
        return appendGap(at: .key(key, of: path))
    }

    /// Writes the value, which is complete. One that encoded nothing is an empty dictionary.
    func finish() throws -> Item {
        if kind == .special { return items[0] }
        guard depth < FleeceLimits.maximumDepth else {
            throw FleeceError(.tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
        }
        for (index, encoder) in gaps { items[index] = try encoder.finish() }
        return unsafe items.withUnsafeMutableBufferPointer { items in
            unsafe kind == .array ? state.output.array(items) : state.output.dictionary(items)
        }
    }

    /// The item for a value that is an element of this one, or this one itself.
    func item<T: Encodable>(encoding value: T, at path: @autoclosure () -> CodingPath) throws -> Item {
        if let item = try specialItem(for: value, at: path()) { return item }
        let encoder = ValueEncoder(state, path: path(), depth: depth + 1)
        try value.encode(to: encoder)
        return try encoder.finish()
    }

    /// The item for this encoder's own value.
    func item<T: Encodable>(encoding value: T) throws -> Item {
        if let item = try specialItem(for: value, at: path) { return item }
        try value.encode(to: self)
        return try finish()
    }

    /// The item for a value of one of the types that have a form of their own; `nil` for all others.
    private func specialItem<T: Encodable>(for value: T, at path: @autoclosure () -> CodingPath) throws
        -> Item?
    {
        if let item = try scalarItem(for: value, at: path()) { return item }
        if T.self == FleeceValue.self, let value = value as? FleeceValue { return copy(value) }
        return try foundationItem(for: value, at: path())
    }

    /// The item for one of the commonest scalars, spared the way through a container of its own.
    @inline(__always)
    private func scalarItem<T>(for value: T, at path: @autoclosure () -> CodingPath) throws -> Item? {
        // The casts are between equal types.
        if T.self == String.self { return item(for: unsafe unsafeBitCast(value, to: String.self)) }
        if T.self == Int.self { return item(for: unsafe unsafeBitCast(value, to: Int.self)) }
        if T.self == Double.self {
            return try item(for: unsafe unsafeBitCast(value, to: Double.self), at: path())
        }
        if T.self == Bool.self { return FleeceOutput.bool(unsafe unsafeBitCast(value, to: Bool.self)) }
        return nil
    }

    func copy(_ value: FleeceValue) -> Item {
        state.output.copy(value, depth: depth)
    }

    func item(for value: String) -> Item {
        var value = value
        return value.withUTF8 { unsafe state.output.string(UnsafeRawBufferPointer($0)) }
    }

    func item(for value: some BinaryInteger) -> Item {
        if let signed = Int64(exactly: value) { return state.output.integer(signed) }
        return state.output.integer(UInt64(value))
    }

    func item(for value: Double, at path: @autoclosure () -> CodingPath) throws -> Item {
        guard value.isFinite else {
            let context = EncodingError.Context(
                codingPath: path().keys, debugDescription: "JSON and Fleece have no \(value).")
            throw EncodingError.invalidValue(value, context)
        }
        return state.output.double(value)
    }
}

extension ValueEncoder: Encoder {
    var codingPath: [any CodingKey] { path.keys }

    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        become(.dictionary)
        return KeyedEncodingContainer(KeyedValueEncoder(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        become(.array)
        return UnkeyedValueEncoder(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueEncoder(encoder: self)
    }
}

// MARK: - KeyedValueEncoder

/// The keyed container of a dictionary that grows.
struct KeyedValueEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    /// Adds a member with the value that `item` has the encoder write.
    @inline(__always)
    private func append(_ key: Key, _ item: (ValueEncoder) throws -> Item) rethrows {
        let encoder = encoder.encoder(of: key)
        encoder.append(key: key, try item(encoder))
    }

    func encodeNil(forKey key: Key) { append(key) { _ in .null } }
    func encode(_ value: Bool, forKey key: Key) { append(key) { _ in FleeceOutput.bool(value) } }
    func encode(_ value: String, forKey key: Key) { append(key) { $0.item(for: value) } }

    func encode(_ value: Double, forKey key: Key) throws {
        try append(key) { try $0.item(for: value, at: .key(key, of: $0.path)) }
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try encode(Double(value), forKey: key)
    }

    func encode(_ value: Int, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int8, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int16, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int32, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: Int64, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt8, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt16, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt32, forKey key: Key) { append(key) { $0.item(for: value) } }
    func encode(_ value: UInt64, forKey key: Key) { append(key) { $0.item(for: value) } }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try append(key) { try $0.item(encoding: value, at: .key(key, of: $0.path)) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.encoder(of: key).appendGap(key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.encoder(of: key).appendGap(key: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder.encoder(of: PlainKey.super).appendGap(key: PlainKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder.encoder(of: key).appendGap(key: key)
    }
}

// MARK: - UnkeyedValueEncoder

/// The unkeyed container of an array that grows.
struct UnkeyedValueEncoder: UnkeyedEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    private var nextPath: CodingPath { .index(count, of: encoder.path) }

    func encodeNil() {
        encoder.append(.null)
    }

    func encode(_ value: Bool) {
        encoder.append(FleeceOutput.bool(value))
    }

    func encode(_ value: String) {
        encoder.append(encoder.item(for: value))
    }

    func encode(_ value: Double) throws {
        encoder.append(try encoder.item(for: value, at: nextPath))
    }

    func encode(_ value: Float) throws {
        try encode(Double(value))
    }

    func encode(_ value: Int) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int8) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int16) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int32) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: Int64) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt8) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt16) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt32) { encoder.append(encoder.item(for: value)) }
    func encode(_ value: UInt64) { encoder.append(encoder.item(for: value)) }

    func encode<T: Encodable>(_ value: T) throws {
        encoder.append(try encoder.item(encoding: value, at: nextPath))
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<
        NestedKey
    > {
        encoder.appendGap(at: nextPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.appendGap(at: nextPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder.appendGap(at: nextPath)
    }
}

// MARK: - SingleValueEncoder

/// The container of a value that is a scalar, or that another value stands for.
struct SingleValueEncoder: SingleValueEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() {
        encoder.become(scalar: .null)
    }

    func encode(_ value: Bool) {
        encoder.become(scalar: FleeceOutput.bool(value))
    }

    func encode(_ value: String) {
        encoder.become(scalar: encoder.item(for: value))
    }

    func encode(_ value: Double) throws {
        encoder.become(scalar: try encoder.item(for: value, at: encoder.path))
    }

    func encode(_ value: Float) throws {
        try encode(Double(value))
    }

    func encode(_ value: Int) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int8) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int16) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int32) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: Int64) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt8) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt16) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt32) { encoder.become(scalar: encoder.item(for: value)) }
    func encode(_ value: UInt64) { encoder.become(scalar: encoder.item(for: value)) }

    func encode<T: Encodable>(_ value: T) throws {
        encoder.become(scalar: try encoder.item(encoding: value, at: encoder.path))
    }
}
