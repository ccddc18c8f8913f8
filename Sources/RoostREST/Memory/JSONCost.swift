/// The memory that a JSON text takes while it is parsed.
struct JSONCost {
    /// What a value takes while the collection is open that it belongs to, with the copy that is made as the list grows.
    private static let perValue = 12

    private let length: Int
    /// At least as many as the text has. What separates values is counted in strings, too, which errs on the safe side.
    let values: Int

    init(_ text: [UInt8]) {
        length = text.count
        var values = 1
        for byte in text {
            let isOpening = byte | 0x20 == UInt8(ascii: "{")
            if isOpening || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") { values &+= 1 }
        }
        self.values = values
    }

    /// An upper bound of the memory beside the text, in bytes: the body that is built, the copy in which it ends, and what is
    /// kept of the values of open collections.
    var parsing: Int { length * 2 + values * Self.perValue }
}
