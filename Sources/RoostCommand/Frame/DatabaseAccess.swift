import Fleece
import Foundation
import Roost

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
