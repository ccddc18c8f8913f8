import Fleece
import Roost

extension Invocation {
    /// The database that the first argument names, to be read.
    func openForReading() throws -> Database {
        try open(DatabaseOptions(readOnly: true, createIfMissing: false))
    }

    /// The database that the first argument names, to be written.
    func openForWriting(createIfMissing: Bool = false) throws -> Database {
        try open(DatabaseOptions(createIfMissing: createIfMissing))
    }

    /// Opens with the key that the options lead to; asks for a passphrase where one is needed and was not given.
    private func open(_ options: DatabaseOptions) throws -> Database {
        try withKey { key in
            var options = options
            options.key = key
            return try Database.open(self[0], options: options)
        }
    }

    /// Calls `body` with the key that the options lead to, and again with a passphrase that was asked for, if the
    /// database turns out to be encrypted.
    func withKey<R>(_ body: (EncryptionKey?) throws -> R) throws -> R {
        let key = try KeyAccess.key(self)
        do {
            return try body(key)
        } catch let error as DatabaseError where error.code == .wrongKey && key == nil {
            guard let prompted = KeyAccess.prompt("Passphrase of \(self[0]): ") else { throw error }
            return try body(prompted)
        }
    }

    /// The collection that `--collection` names.
    func collection(of database: Database, createIfMissing: Bool = false) throws -> DocumentCollection {
        guard let name = string(Option.collection.name) else { return try database.defaultCollection }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard let last = parts.last else { throw UsageError("--collection takes a name.") }
        let scope = parts.count > 1 ? parts[0] : "_default"
        return try database.collection(last, scope: scope, createIfMissing: createIfMissing)
    }
}

extension Document {
    /// The document as JSON text with `_id`, and `_rev` where asked for.
    func text(_ format: JSONFormat = .compact, withRevision: Bool = false) -> String {
        var members = ["\"_id\":\(format == .pretty ? " " : "")\(JSONObject.quoted(id))"]
        if withRevision {
            members.append(
                "\"_rev\":\(format == .pretty ? " " : "")\(JSONObject.quoted(revision.description))")
        }
        if isDeleted { members.append("\"_deleted\":\(format == .pretty ? " " : "")true") }
        let body = json(format)
        let isEmpty = keys.isEmpty
        guard format == .pretty else {
            return "{" + members.joined(separator: ",") + (isEmpty ? "" : ",") + body.dropFirst()
        }
        let head = members.map { "  \($0)" }.joined(separator: ",\n")
        return "{\n" + head + (isEmpty ? "\n}" : "," + body.dropFirst())
    }
}
