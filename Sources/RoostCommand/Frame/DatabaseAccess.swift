import Fleece
import Foundation
import Roost
import RoostQuery

extension Invocation {
    /// The database that the first argument names, to be read.
    func openForReading() throws -> Database {
        try open(DatabaseOptions(isReadOnly: true, createsIfMissing: false))
    }

    /// The database that the first argument names, to be written: by turns where others do that now, otherwise alone.
    func openForWriting(createsIfMissing: Bool = false) throws -> Database {
        let database = try openAsOthersDo(DatabaseOptions(createsIfMissing: createsIfMissing))
        let bytes = database.ending.bytesBehind
        if bytes > 0 {
            Console.complain(
                "\(self[0]) ended with \(Size.text(bytes)) of a commit that is not whole, which were cut off: a crash "
                    + "leaves that, or damage to the last commits.")
        }
        return database
    }

    private func openAsOthersDo(_ options: DatabaseOptions) throws -> Database {
        var options = options
        // Others may come and go in between, and a program that opens the database locks its file for a moment to see
        // whether it is alone.
        var attempt = 1
        while true {
            options.writers = try Database.isWrittenByTurns(self[0]) ? .takingTurns : .one
            do {
                return try open(options)
            } catch let error as DatabaseError where error.code == .locked && attempt < Self.attempts {
                attempt += 1
                usleep(Self.pause)
            }
        }
    }

    /// What stands in the place of a database where there is none.
    static var inMemory: String { ":memory:" }

    /// How often a database that is locked is tried to be opened.
    private static var attempts: Int { 3 }

    /// Microseconds in between.
    private static var pause: UInt32 { 10_000 }

    /// Opens with the key that the options lead to; asks for a passphrase where one is needed and was not given.
    private func open(_ options: DatabaseOptions) throws -> Database {
        if self[0] == Self.inMemory { return try Database.inMemory() }
        return try withKey { key in
            var options = options
            options.key = key
            return try Database.open(self[0], options: options)
        }
    }

    /// Calls `body` with the key that the options lead to, and again with a passphrase that was asked for, if the
    /// database turns out to be encrypted.
    func withKey<R>(_ body: (EncryptionKey?) throws -> R) throws -> R {
        let key = try KeyAccess.key(self) ?? KeyAccess.remembered
        do {
            return try body(key)
        } catch let error as DatabaseError where error.code == .wrongKey && key == nil {
            for attempt in 1... {
                guard let prompted = try PassphrasePrompt.ask("Passphrase of \(self[0]): ") else { break }
                do {
                    return try body(prompted)
                } catch let error as DatabaseError
                    where error.code == .wrongKey && attempt < Self.passphraseAttempts
                {
                    Console.note("That is not its passphrase.")
                }
            }
            throw CommandFailure(
                "\(self[0]) is encrypted. Give its key with --passphrase-file FILE or --key-file FILE.")
        }
    }

    /// How often a passphrase may be typed.
    private static var passphraseAttempts: Int { 3 }

    /// The collection that `--collection` names.
    func collection(of database: Database, createsIfMissing: Bool = false) throws -> DocumentCollection {
        guard let name = string(Option.collection.name) else { return try database.defaultCollection }
        return try database.collection(named: name, createsIfMissing: createsIfMissing)
    }

    /// The revision that `--rev` names.
    func revision() throws -> RevisionID? {
        try string(Option.revisionName).map { try RevisionID(validating: $0) }
    }
}

extension Database {
    /// The collection NAME, or SCOPE.NAME.
    func collection(named name: String, createsIfMissing: Bool) throws -> DocumentCollection {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let last = parts.last, !name.isEmpty else {
            throw UsageError("A collection is NAME or SCOPE.NAME, and not empty.")
        }
        let scope = parts.count > 1 ? parts[0] : "_default"
        do {
            return try collection(last, scope: scope, createsIfMissing: createsIfMissing)
        } catch {
            guard error.code == .notFound else { throw error }
            throw CollectionNames.missing(name, in: self)
        }
    }
}

// MARK: - CollectionNames

/// The names of a database's collections, as people type them.
enum CollectionNames {
    /// NAME in the default scope, SCOPE.NAME in another one.
    static func all(of database: Database) throws -> [String] {
        try database.scopes.flatMap { scope in
            try database.collections(scope: scope).map(name)
        }
    }

    static func name(_ collection: DocumentCollection) -> String {
        collection.scopeName == "_default" ? collection.collectionName : "\(collection)"
    }

    /// That there is no collection of a name, and which there are.
    static func missing(_ name: String, in database: Database) -> CommandFailure {
        let names = (try? all(of: database)) ?? []
        let instead = Suggestion.textOrList(for: name, among: names)
        return CommandFailure(
            "There is no collection \(name) here\(instead.isEmpty ? "." : instead)")
    }
}

// MARK: - KeyAccess

/// Where the key of an encrypted database comes from: a file, or a prompt; never the command line, which other users
/// of the machine can read.
enum KeyAccess {
    static let options = [
        Option("--key-file", "FILE", "the database's key: 32 bytes, or 64 hexadecimal digits"),
        Option("--passphrase-file", "FILE", "the database's passphrase: the first line of FILE"),
    ]

    /// The key that commands take where they are given none: that of the shell they are called from.
    @TaskLocal static var remembered: EncryptionKey?

    /// The key that the options of these names lead to; `nil` where none was given.
    static func key(
        _ invocation: Invocation, keyFile: String = "--key-file", passphraseFile: String = "--passphrase-file"
    ) throws -> EncryptionKey? {
        switch (invocation.string(keyFile), invocation.string(passphraseFile)) {
        case (nil, nil): return nil
        case (let path?, nil): return try key(inFile: path)
        case (nil, let path?): return try passphrase(inFile: path)
        default: throw UsageError("Give \(keyFile) or \(passphraseFile), not both.")
        }
    }

    private static func key(inFile path: String) throws -> EncryptionKey {
        let bytes = try read(path)
        if bytes.count == EncryptionKey.byteCount { return try EncryptionKey(bytes: bytes) }
        let digits = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let pairs = stride(from: 0, to: digits.utf8.count - 1, by: 2).map { offset in
            UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
        }
        guard digits.utf8.count == 64, !pairs.contains(nil) else {
            throw CommandFailure("\(path) holds no key: 32 bytes, or 64 hexadecimal digits.")
        }
        return try EncryptionKey(bytes: pairs.compactMap { $0 })
    }

    private static func passphrase(inFile path: String) throws -> EncryptionKey {
        let line = try read(path).prefix { $0 != 10 && $0 != 13 }
        guard !line.isEmpty else { throw CommandFailure("\(path) holds no passphrase in its first line.") }
        return .passphrase(bytes: Array(line))
    }

    private static func read(_ path: String) throws -> [UInt8] {
        try InputFile(path).readAll(limit: 1 << 20)
    }
}

// MARK: - PassphrasePrompt

/// Asks for a passphrase on the terminal, without showing it.
enum PassphrasePrompt {
    /// The passphrase that is typed; `nil` where there is no terminal to ask on, and for an empty one.
    ///
    /// - Throws: ``Interrupted`` for Ctrl-C.
    static func ask(_ question: String) throws -> EncryptionKey? {
        try withBytes(question) { .passphrase(bytes: $0) }
    }

    /// What is typed, such as a password for a server; `nil` as ``ask(_:)`` has it.
    ///
    /// - Throws: ``Interrupted`` for Ctrl-C.
    static func text(_ question: String) throws -> String? {
        try withBytes(question) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with what is typed, of which nothing is left then.
    private static func withBytes<R>(_ question: String, _ body: ([UInt8]) -> R) throws -> R? {
        guard Console.isTerminal(STDIN_FILENO) else { return nil }
        try Console.flush()
        let terminal = RawTerminal()
        return try terminal.set(.keys) {
            // Not before what is typed isn't shown.
            try? OutputFile.write(Array(question.utf8)[...], to: STDERR_FILENO)
            defer { try? OutputFile.write([10], to: STDERR_FILENO) }
            var bytes: [UInt8] = []
            defer { for index in bytes.indices { bytes[index] = 0 } }
            while let byte = terminal.byte() {
                switch byte {
                case RawTerminal.controlC: throw Interrupted()
                case 4, 10, 13: return bytes.isEmpty ? nil : body(bytes)
                case 8, 127: removeCharacter(&bytes)
                case 21: bytes.removeAll()
                default: bytes.append(byte)
                }
            }
            return nil
        }
    }

    /// Removes the last character in UTF-8: its last byte, and what that goes on from.
    private static func removeCharacter(_ bytes: inout [UInt8]) {
        while let last = bytes.popLast(), 0x80..<0xC0 ~= last {}
    }
}

/// The user pressed Ctrl-C at a question.
struct Interrupted: Error {}
