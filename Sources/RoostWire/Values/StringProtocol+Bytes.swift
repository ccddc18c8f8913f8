/// Names are bytes: `==` takes texts for equal that Unicode calls canonically equivalent, and `hasPrefix` compares characters, so that
/// an accent after the prefix hides it. Neither is a comparison of identities; these are.
extension StringProtocol {
    /// Whether both texts have the same bytes in UTF-8.
    @inlinable package func isIdentical(to other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    /// Whether the text's bytes begin with those of `prefix`.
    @inlinable package func begins(with prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// The text's bytes without those of `prefix`; `nil` where it does not begin with them.
    @inlinable package func removing(prefix: some StringProtocol) -> String? {
        guard begins(with: prefix) else { return nil }
        return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// Whether a byte of ASCII is among the text's bytes, whatever combines with it.
    @inlinable package func contains(ascii character: Unicode.Scalar) -> Bool {
        utf8.contains(UInt8(ascii: character))
    }
}
