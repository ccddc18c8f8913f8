extension Collation {
    /// What the keys of all texts begin with that begin with `text`, byte by byte; `nil` where they may begin in more than one way.
    ///
    /// A key in Unicode's order begins with the primary weights of its text. Those of what begins with plain ASCII begin with those of the ASCII,
    /// as long as no character of it can count as one with what follows.
    package func keyPrefix(ofTextsWith text: String) -> [UInt8]? {
        let encoder = KeyEncoder(self)
        encoder.append(text)
        let key = encoder.key
        guard case .unicode(let order) = texts else { return Array(key.dropLast()) }
        guard order.tailoring == nil,
            text.utf8.allSatisfy({ $0 < 0x80 && CollationTable.root.places[UInt32($0)] >> 31 == 0 })
        else { return nil }
        // The tag, and what precedes the end of the first level.
        return Array(key.prefix(1) + key.dropFirst().prefix { $0 > 1 })
    }
}
