import Foundation
import Roost
import RoostCrypto
import RoostWire

/// Which names new accounts may have. Accounts that exist keep theirs, whatever it is.
enum AccountNames {
    private static let longest = 256

    /// Why no account may be created under a name, as a sentence; `nil` where one may.
    static func problem(_ name: String) -> String? {
        guard (1...longest).contains(name.utf8.count) else {
            return "The name of an account has 1 to \(longest) bytes."
        }
        guard name.isIdentical(to: name.precomposedStringWithCanonicalMapping) else {
            return "The name of an account must be in Unicode's normal form C."
        }
        if let scalar = name.unicodeScalars.first(where: isHidden) {
            return
                "The name of an account must not contain U+\(String(scalar.value, radix: 16, uppercase: true))."
        }
        let words = name.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard !words.contains(where: \.isEmpty) else {
            return "The name of an account neither begins nor ends with a space, and has none after another."
        }
        return nil
    }

    /// Whether a reader of the name would not see the character, or not where it is: control characters, white space other than the
    /// space, what changes the direction of text or has no width, and what no version of Unicode assigns yet.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint { return true }
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            return true
        case .spaceSeparator: return scalar != " "
        default: return false
        }
    }

    /// The form in which names that are easily taken for each other are the same: without regard to case, width and other
    /// compatibility variants (NFKC), dots above i and j, and dots at the end.
    static func folded(_ name: String) -> String {
        let plain = name.precomposedStringWithCompatibilityMapping.uppercased().lowercased()
            .precomposedStringWithCompatibilityMapping
        var scalars = String.UnicodeScalarView()
        for scalar in plain.unicodeScalars {
            if scalar == "\u{307}", let last = scalars.last, last == "i" || last == "j" { continue }
            if !isHidden(scalar) { scalars.append(scalar) }
        }
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        return String(scalars)
    }
}

/// Finds accounts whose names are easily taken for a new one's: kept besides the documents of `_users`, in the transactions that change
/// them.
///
///     a digest      the names that fold to the text of that SHA-256, each followed by FF, which is in no UTF-8
///     A             the sequence up to which all documents have been noted: eight bytes, big-endian
///
/// Notes are hints: a name counts while its account exists, so nothing has to be removed.
struct AccountNameRegister {
    let batch: WriteTransaction
    let collection: DocumentCollection

    private static let end: UInt8 = 0xFF
    private static let position = [UInt8(ascii: "A")]

    private static func key(_ name: String) -> [UInt8] {
        [UInt8(ascii: "a")] + SHA256.hash(Array(AccountNames.folded(name).utf8)).bytes
    }

    /// Another account that exists and whose name folds to the same; otherwise the new name is noted.
    func claim(_ name: String) throws -> String? {
        try catchUp()
        let others = try names(like: name).filter { !$0.isIdentical(to: name) }
        for other in others where try batch.document(UsersDatabase.prefix + other, in: collection) != nil {
            return other
        }
        try note(name)
        return nil
    }

    private func names(like name: String) throws -> [String] {
        try batch.annotation(Self.key(name), in: collection)?.split(separator: Self.end)
            .map { String(decoding: $0, as: UTF8.self) } ?? []
    }

    private func note(_ name: String) throws {
        let noted = try names(like: name)
        guard !noted.contains(where: { $0.isIdentical(to: name) }) else { return }
        let value = (noted + [name]).flatMap { Array($0.utf8) + [Self.end] }
        try batch.annotate(Self.key(name), with: value, in: collection)
    }

    /// Notes accounts that were written since the last time: also by programs that use the database itself, and by earlier builds.
    private func catchUp() throws {
        let snapshot = try collection.snapshot()
        let noted = try batch.annotation(Self.position, in: collection) ?? []
        let start = noted.reduce(0) { $0 << 8 | UInt64($1) }
        guard noted.count == 8 ? start < snapshot.lastSequence : true else { return }
        let cursor = try snapshot.changeCursor(since: min(start, snapshot.lastSequence))
        while let change = try cursor.next() {
            if let name = change.id.removing(prefix: UsersDatabase.prefix) { try note(name) }
        }
        let end = (0..<8).map { UInt8(truncatingIfNeeded: snapshot.lastSequence >> (56 - 8 * UInt64($0))) }
        try batch.annotate(Self.position, with: end, in: collection)
    }
}
