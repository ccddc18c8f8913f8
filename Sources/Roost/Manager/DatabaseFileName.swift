/// What the directory of a database in a ``DatabaseManager`` is called, after the database's name.
///
/// Small letters, digits and `_-$()+` stand for themselves, all other bytes of the UTF-8 as `%` and two capital hexadecimal
/// digits, and `.roost` follows: `Ärger/a` becomes `%C3%84rger%2Fa.roost`. Two names never share a directory, also where the
/// file system takes large and small letters or forms of Unicode for the same, and no name leads elsewhere.
enum DatabaseFileName {
    private static let suffix = ".roost"
    /// The longest that all file systems take, in bytes.
    private static let maximumLength = 255
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The name of the directory.
    ///
    /// - Throws: `invalidName` for an empty name, and for one that makes too long a file's name.
    static func text(for name: String) throws(DatabaseError) -> String {
        guard !name.isEmpty else {
            throw DatabaseError(.invalidName, "A database in a manager needs a name.")
        }
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        guard bytes.count + suffix.utf8.count <= maximumLength else {
            throw DatabaseError(
                .invalidName,
                "The database name \(DatabaseError.quoted(name)) is too long for a file's name. Use a shorter one, of small "
                    + "letters and digits.")
        }
        return String(decoding: bytes, as: UTF8.self) + suffix
    }

    /// The name of the database in a directory of that name; `nil` when it is none of a manager's.
    static func name(of text: String) -> String? {
        guard text.utf8.count > suffix.utf8.count, text.hasSuffix(suffix) else { return nil }
        var bytes: [UInt8] = []
        var rest = text.utf8.dropLast(suffix.utf8.count)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap({ digits.firstIndex(of: $0) }),
                    let low = rest.popFirst().flatMap({ digits.firstIndex(of: $0) })
                else { return nil }
                bytes.append(UInt8(high << 4 | low))
            } else {
                bytes.append(byte)
            }
        }
        // Only the form that is written counts, so that a database has one name.
        guard let name = String(validating: bytes, as: UTF8.self), let own = try? Self.text(for: name),
            own.utf8.elementsEqual(text.utf8)
        else { return nil }
        return name
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "_-$()+".utf8.contains(byte)
        }
    }
}
