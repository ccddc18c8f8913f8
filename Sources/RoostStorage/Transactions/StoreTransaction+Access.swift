import RoostBytes

extension StoreTransaction {
    /// The value under `key`, with the changes made so far; `nil` when there is none. O(log n).
    ///
    /// Where a transaction reads single keys of a tree that it changes, this is faster than ``subscript(_:)``: changes of
    /// other keys needn't be made before.
    public subscript(tree: Tree, key: Key) -> [UInt8]? {
        get throws(StoreError) {
            var chunk: ChunkReference?
            var value: [UInt8]?
            try key.bytes.withView { (key) throws(StoreError) in
                try find(key, in: tree) { entry in
                    if entry.kind == .none { value = entry.inline.array } else { chunk = entry.chunk }
                }
            }
            return try chunk.map { (chunk) throws(StoreError) in try self.withValue(at: chunk) { $0.array } }
                ?? value
        }
    }

    /// The tree as it is with the changes made so far; good until the next change.
    public subscript(tree: Tree) -> TreeView {
        get throws(StoreError) {
            try checkOpen()
            guard let reader = try trees.reader(tree.id) else { throw tree.missing(in: file.path) }
            return unsafe TreeView(.passUnretained(reader), of: reader)
        }
    }

    /// Calls `body` with the inline bytes of the entry under `key` and the value that it leads to, if any, as they are with
    /// the changes made so far; `nil` when there is no such entry. O(log n).
    package func withEntry<R>(
        _ key: ByteView, in tree: Tree, _ body: (ByteView, ValueReference?) -> R
    ) throws(StoreError) -> R? {
        var result: R?
        try find(key, in: tree) { entry in
            result = body(entry.inline, entry.value)
        }
        return result
    }

    /// Calls `body` with a value that an entry of `tree` leads to, valid during the call.
    package func withValue<R>(
        at reference: ValueReference, in tree: Tree, _ body: (ByteView) -> R
    ) throws(StoreError) -> R {
        try checkOpen()
        return try withValue(at: reference.chunk, body)
    }

    private func withValue<R>(
        at chunk: ChunkReference, _ body: (ByteView) -> R
    ) throws(StoreError) -> R {
        var result: R?
        try file.visitValue(chunk) { result = body($0) }
        guard let result else { preconditionFailure("a visited value was handed over") }
        return result
    }

    private func find(_ key: ByteView, in tree: Tree, _ body: (Entry) -> Void) throws(StoreError) {
        try checkOpen()
        guard try trees.find(key, in: tree.id, body) else { throw tree.missing(in: file.path) }
    }

    /// Sets the value under `key`, replacing what is there. O(log n).
    ///
    /// - Throws: ``StoreError/Code/limitExceeded`` for a key over 4 KiB or a value over 1 GiB.
    public func put(_ key: Key, _ value: [UInt8], in tree: Tree) throws(StoreError) {
        try key.bytes.withView { (key) throws(StoreError) in
            try value.withView { (value) throws(StoreError) in try put(key, value, in: tree) }
        }
    }

    /// Sets the value under `key`; as ``put(_:_:in:)-(Key,[UInt8],_)``, without an array for either.
    public func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in tree: Tree
    ) throws(StoreError) {
        unsafe try put(ByteView(key), ByteView(value), in: tree)
    }

    package func put(_ key: ByteView, _ value: ByteView, in tree: Tree) throws(StoreError) {
        try check(key: key)
        try check(value: value)
        try change(tree) { (editor) throws(StoreError) in
            if value.count <= inlineLimit {
                try editor.putLater(key, .inline(value))
            } else {
                let chunk = try append(value: value).chunk
                try editor.putLater(key, Entry(kind: .owned, inline: .empty, chunk: chunk))
            }
        }
    }

    /// Appends a value outside the trees; it lives once an entry refers to it.
    ///
    /// - Throws: ``StoreError/Code/limitExceeded`` for a value over 1 GiB.
    package func append(value: ByteView) throws(StoreError) -> ValueReference {
        try checkOpen()
        try check(value: value)
        return ValueReference(chunk: try output.append(.value, value))
    }

    /// Sets an entry that leads to a value written by ``append(value:)``.
    ///
    /// - Parameter owns: whether this entry keeps the value alive and carries it through compaction. Of the entries
    ///   that share a value exactly one does.
    package func put(
        _ key: ByteView, inline: ByteView, value: ValueReference, owns: Bool, in tree: Tree
    ) throws(StoreError) {
        try check(key: key)
        guard inline.count <= Format.maximumInlineLength else {
            throw StoreError(
                .limitExceeded,
                "An entry holds up to \(Format.maximumInlineLength) bytes in its leaf; this one has \(inline.count)."
            )
        }
        try change(tree) { (editor) throws(StoreError) in
            try editor.putLater(
                key, Entry(kind: owns ? .shared : .borrowed, inline: inline, chunk: value.chunk))
        }
    }

    /// Deletes `key`, if it is there. O(log n).
    public func delete(_ key: Key, in tree: Tree) throws(StoreError) {
        try key.bytes.withView { (key) throws(StoreError) in try delete(key, in: tree) }
    }

    /// Deletes `key`; as ``delete(_:in:)-(Key,_)``, without an array for it.
    public func delete(_ key: UnsafeRawBufferPointer, in tree: Tree) throws(StoreError) {
        unsafe try delete(ByteView(key), in: tree)
    }

    package func delete(_ key: ByteView, in tree: Tree) throws(StoreError) {
        try change(tree) { (editor) throws(StoreError) in try editor.deleteLater(key, isKnown: false) }
    }

    /// Deletes an entry that is known to be there and to own no value, as another tree that leads to it says. O(log n),
    /// without reading the leaf that it is stored in.
    ///
    /// Where it is not there after all, as in a damaged file, the tree's counts are too low by one until that leaf is written.
    package func deleteKnown(_ key: ByteView, in tree: Tree) throws(StoreError) {
        try change(tree) { (editor) throws(StoreError) in try editor.deleteLater(key, isKnown: true) }
    }

    /// Deletes all keys in `range`. O(log n): what lies within is dropped without being read.
    public func delete(_ range: KeyRange, in tree: Tree) throws(StoreError) {
        try change(tree) { (editor) throws(StoreError) in
            if !range.isEmpty { try editor.deleteRange(range.lower?.bytes, range.upper?.bytes) }
        }
    }

    private func check(key: ByteView) throws(StoreError) {
        guard key.count <= Format.maximumKeyLength else {
            throw StoreError(
                .limitExceeded,
                "A key takes up to \(Format.maximumKeyLength) bytes; this one has \(key.count).")
        }
    }

    /// Refuses a value that could not be read again.
    private func check(value: ByteView) throws(StoreError) {
        guard value.count <= Format.maximumValueLength else {
            throw StoreError(
                .limitExceeded,
                "A value takes up to \(Format.maximumValueLength) bytes; this one has \(value.count).")
        }
    }
}

// MARK: - Values

extension StoreTransaction {
    /// Puts text in UTF-8 under `key`: see ``put(_:_:in:)-(Key,[UInt8],_)``.
    public func put(_ key: Key, _ text: some StringProtocol, in tree: Tree) throws(StoreError) {
        try put(key, Array(text.utf8), in: tree)
    }

    /// Puts bytes of any kind, such as Foundation's `Data`, under `key`: see ``put(_:_:in:)-(Key,[UInt8],_)``.
    public func put(_ key: Key, _ bytes: some Sequence<UInt8>, in tree: Tree) throws(StoreError) {
        try put(key, Array(bytes), in: tree)
    }
}
