import RoostFile
import RoostStorage

/// The files of a ``DatabaseManager``: making and removing databases so that a crash leaves them there as a whole or not at all.
///
/// A database is made under a name that is no database's and renamed when it is complete; to delete one is to rename it so and
/// then to remove its files. Whatever has such a name when a manager begins was left by a crash.
struct ManagerFiles {
    let directory: String
    let environment: Environment
    private static let unfinishedPrefix = ".roost-unfinished-"

    private var medium: any Medium { environment.medium }

    func path(_ fileName: String) -> String {
        directory.last == "/" ? directory + fileName : "\(directory)/\(fileName)"
    }

    /// A path that nothing has, for what is being made or removed.
    func unfinishedPath() -> String {
        path(Self.unfinishedPrefix + UUIDText.text(UUIDText.random(environment)))
    }

    /// Makes the directory, if there is none.
    func makeDirectory() throws(DatabaseError) {
        try translating { () throws(FileError) in
            if let status = try medium.statusFollowingLinks(of: directory), status.kind == .directory {
                return
            }
            try medium.ensureDirectory(directory)
        }
    }

    /// The names of what is in the directory.
    func list() throws(DatabaseError) -> [String] {
        try translating { () throws(FileError) in try medium.list(directory) }
    }

    /// Whether there is a database.
    func contains(_ fileName: String) throws(DatabaseError) -> Bool {
        try translating { () throws(FileError) in
            try medium.status(of: DatabaseOpener.dataPath(path(fileName))) != nil
        }
    }

    /// Gives what was made its name, durably.
    func install(_ unfinished: String, as fileName: String) throws(DatabaseError) {
        try translating { () throws(FileError) in
            try medium.rename(unfinished, to: path(fileName))
            try medium.syncDirectory(of: path(fileName))
        }
    }

    /// Deletes a database that nobody has open for writing. From the first moment on it is gone for good.
    ///
    /// - Throws: `locked`.
    func delete(_ fileName: String) throws(DatabaseError) {
        let unfinished = unfinishedPath()
        let lock = try translating { () throws(FileError) in
            try medium.open(DatabaseOpener.dataPath(path(fileName)), .readWrite).lock()
        }
        defer { extendLifetime(lock) }
        try WritingProcesses(path: path(fileName), environment: environment).requireNone()
        try translating { () throws(FileError) in
            try medium.rename(path(fileName), to: unfinished)
            try medium.syncDirectory(of: unfinished)
        }
        // What is left when this fails goes when a manager begins again.
        try? removeTree(unfinished)
    }

    /// Removes what a crash left, unless somebody is still at it.
    func sweep() throws(DatabaseError) {
        for name in try list() where name.utf8.starts(with: Self.unfinishedPrefix.utf8) {
            try? translating { () throws(FileError) in
                let data = DatabaseOpener.dataPath(path(name))
                let lock = try medium.status(of: data) == nil ? nil : try medium.open(data, .readWrite).lock()
                defer { extendLifetime(lock) }
                try removeTree(path(name))
            }
        }
    }

    /// Removes a file or a directory with all that is in it. Follows no link.
    func removeTree(_ path: String) throws(FileError) {
        guard let status = try medium.status(of: path) else { return }
        if status.kind == .directory {
            for name in try medium.list(path) { try removeTree("\(path)/\(name)") }
        }
        try medium.remove(path)
    }
}

// MARK: - DatabaseFileName

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

// MARK: - Identity

extension Database {
    /// Gives the database new random names, as a copy needs that is to be a database of its own. This handle goes on telling
    /// the old ones: open it anew.
    func renewIdentity() throws(DatabaseError) {
        try checkWritable()
        let store = core.store
        let catalog = core.catalog
        try translating { () throws(StoreError) in
            let transaction = try store.beginWriting()
            defer { transaction.rollback() }
            guard let bytes = try transaction[catalog].value(Catalog.database),
                var record = try? DatabaseRecord(bytes)
            else { return }
            record.privateUUID = UUIDText.random(core.environment)
            record.publicUUID = UUIDText.random(core.environment)
            try transaction.put(Catalog.database, record.encoded, in: catalog)
            _ = try transaction.commit()
        }
    }
}
