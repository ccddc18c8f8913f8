/// Bytes that break the BLIP protocol. The connection can't go on: its owner closes it.
package struct BLIPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    package let description: String

    package init(_ description: String) { self.description = description }
}
