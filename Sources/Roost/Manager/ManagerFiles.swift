import RoostFile

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
