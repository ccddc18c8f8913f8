/// The bytes that the keys of values begin with, in the order of the kinds. 00 ends collections and texts, so no tag is 00;
/// FF is greater than any.
struct KeyTags: Sendable {
    let null: UInt8
    let `false`: UInt8
    let `true`: UInt8
    let negative: UInt8
    let positive: UInt8
    let text: UInt8
    let array: UInt8
    let object: UInt8

    /// Only in indexes, where a row stands for every document: no value.
    static let missing: UInt8 = 0x01
    /// Bytes, which are no JSON and come last.
    static let data: UInt8 = 0x60
    /// Ends a collection or a text.
    static let end: UInt8 = 0x00

    static let json = KeyTags(
        null: 0x10, false: 0x11, true: 0x12, negative: 0x20, positive: 0x21, text: 0x30, array: 0x40,
        object: 0x50)
    static let raw = KeyTags(
        null: 0x21, false: 0x20, true: 0x22, negative: 0x10, positive: 0x11, text: 0x50, array: 0x40,
        object: 0x30)
}
