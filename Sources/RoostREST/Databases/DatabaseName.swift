import Roost
import RoostWire

/// The name of a database on the wire: CouchDB's rules, and for collections other than the default one two parts more.
///
/// `notes` is the default collection of the database `notes`, `notes.drafts` its collection `drafts`, and
/// `notes.work.drafts` that collection in the scope `work`. CouchDB's names have no dots, so that these are never one of
/// its own; Sync Gateway writes keyspaces in the same way.
struct DatabaseName: Hashable, Sendable {
    /// All of it.
    let text: String
    /// The database's own name, which its directory has.
    let base: String
    /// Scope and collection; `nil` for the default collection.
    let collection: (scope: String, name: String)?

    private static let system = ["_users", "_replicator", "_global_changes"]
    /// As many bytes as a directory's name may have, with what is added to it.
    private static let longestFileName = 240

    /// Whether it is one of the server's own.
    var isSystem: Bool { Self.system.contains(base) }

    /// - Throws: 400 `illegal_database_name`.
    init(_ text: String) throws {
        self.text = text
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        base = parts[0]
        switch parts.count {
        case 1: collection = nil
        case 2: collection = ("_default", parts[1])
        default: collection = (parts[1], parts[2])
        }
        guard parts.count <= 3, Self.system.contains(base) || Self.isValid(base),
            PercentEncoding.encode(base).utf8.count <= Self.longestFileName
        else {
            throw HTTPFailure(
                400, "illegal_database_name",
                "Name: '\(text)'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), "
                    + "+, -, and / are allowed. Must begin with a letter.")
        }
    }

    /// The name that a collection of the database `base` has.
    static func text(_ base: String, _ scope: String, _ collection: String) -> String {
        switch (scope, collection) {
        case ("_default", "_default"): base
        case ("_default", _): "\(base).\(collection)"
        default: "\(base).\(scope).\(collection)"
        }
    }

    private static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_$()+/-".utf8.contains(byte)
        }
    }

    static func == (left: Self, right: Self) -> Bool { ByteKey(left.text) == ByteKey(right.text) }

    func hash(into hasher: inout Hasher) { hasher.combine(ByteKey(text)) }
}
