import Roost
import RoostStorage

enum EncryptCommand: Command {
    static let name = "encrypt"
    static let summary = "encrypts a database that is not encrypted"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = KeyChange.options
    static let notes = KeyChange.notes

    static func run(_ invocation: Invocation) throws {
        let database = try open(invocation)
        guard !database.isEncrypted else {
            throw CommandFailure("\(invocation[0]) is encrypted already. `roost rekey` gives it another key.")
        }
        try KeyChange.run(invocation, database, to: try KeyChange.newKey(invocation))
    }

    private static func open(_ invocation: Invocation) throws -> Database {
        do {
            return try invocation.openForWriting()
        } catch let error as DatabaseError where error.code == .wrongKey {
            let given = KeyAccess.options.filter { invocation.string($0.name) != nil }
            guard let option = given.first, try !isEncrypted(invocation) else { throw error }
            throw CommandFailure(
                "\(invocation[0]) is not encrypted, so it has no key yet. "
                    + "--new-\(option.name.dropFirst(2)) FILE gives it one.")
        }
    }

    /// Whether the database can't be read without a key.
    private static func isEncrypted(_ invocation: Invocation) throws -> Bool {
        do {
            let options = DatabaseOptions(isReadOnly: true, createsIfMissing: false)
            try Database.open(invocation[0], options: options).close()
            return false
        } catch {
            guard error.code == .wrongKey else { throw error }
            return true
        }
    }
}

enum RekeyCommand: Command {
    static let name = "rekey"
    static let summary = "gives an encrypted database another key"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = KeyChange.options
    static let notes = KeyChange.notes

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForWriting()
        guard database.isEncrypted else {
            throw CommandFailure("\(invocation[0]) is not encrypted. `roost encrypt` encrypts it.")
        }
        try KeyChange.run(invocation, database, to: try KeyChange.newKey(invocation))
    }
}

enum DecryptCommand: Command {
    static let name = "decrypt"
    static let summary = "takes the encryption from a database"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options: [Option] = []
    static let notes = KeyChange.notes

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForWriting()
        guard database.isEncrypted else {
            throw CommandFailure("\(invocation[0]) is not encrypted; nothing was changed.")
        }
        try KeyChange.run(invocation, database, to: nil)
    }
}

/// What the three have in common: a compaction into a file with another key.
enum KeyChange {
    static let options = [
        Option("--new-key-file", "FILE", "the key from now on: 32 bytes, or 64 hexadecimal digits"),
        Option("--new-passphrase-file", "FILE", "the passphrase from now on: the first line of FILE"),
    ]
    static let notes = """
        Everything is written into a new file, so a crash leaves the old one or the new one. The blocks of the old file
        go back to the file system, which may keep what is in them for a while.
        """

    static func newKey(_ invocation: Invocation) throws -> EncryptionKey {
        let given = try KeyAccess.key(
            invocation, keyFile: "--new-key-file", passphraseFile: "--new-passphrase-file")
        if let given { return given }
        guard let first = try PassphrasePrompt.ask("New passphrase: ") else {
            throw UsageError("Give --new-key-file or --new-passphrase-file.")
        }
        guard let second = try PassphrasePrompt.ask("Once more: "), first.isSame(as: second) else {
            throw CommandFailure("The two passphrases differ; nothing was changed.")
        }
        return first
    }

    static func run(_ invocation: Invocation, _ database: Database, to key: EncryptionKey?) throws {
        let bar = ProgressBar("Writing")
        defer { bar.finish() }
        try database.changeKey(to: key) { progress in
            bar.show(progress.completed, of: progress.total)
            return true
        }
        try database.close()
        bar.finish()
        Console.print(
            "\(invocation[0]) is \(key.map { "encrypted with \($0)" } ?? "not encrypted any more").")
    }
}
