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
