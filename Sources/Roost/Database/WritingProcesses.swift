import RoostFile

/// Which processes have a database open to write it by turns, as empty files beside that of the documents tell.
///
/// `data.roost.turns` is the *gate*. Whoever opens the database by turns holds its lock meanwhile, and so does who needs that
/// nobody comes: to remove blobs, to change the key. Each opening has a *sign* besides, `data.roost.turns-` and 16 digits, and holds
/// that one's lock for as long as it lasts, so that the system gives it back in whatever way the process ends. Signs that nobody
/// holds are removed by the next who holds the gate. Nothing is synced: after a crash of the system nobody holds anything.
struct WritingProcesses {
    /// The directory of the database.
    let path: String
    let environment: Environment

    private static let gateName = DatabaseOpener.dataName + ".turns"
    private static let signPrefix = gateName + "-"

    private var medium: any Medium { environment.medium }

    private func path(of name: String) -> String { "\(path)/\(name)" }

    // MARK: Taking part

    /// Runs `body`, which opens the database by turns, as one of those who have it open; no other comes meanwhile. What it
    /// is handed stands for the opening until that is ended, and is ended here when `body` throws.
    ///
    /// - Throws: `locked` when somebody has the database open who does not take turns.
    func entering<R>(_ body: (WritingProcess) throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        let gate = try closeGate()
        defer { gate.release() }
        let isAlone = try !hasOthers(than: nil, removesOld: true)
        let process = try sign(isAlone: isAlone)
        do throws(DatabaseError) {
            // Of those who take turns nobody could have it.
            if isAlone { try requireUnlockedDocuments() }
            return try body(process)
        } catch {
            process.leave()
            throw error
        }
    }

    private func sign(isAlone: Bool) throws(DatabaseError) -> WritingProcess {
        let digits = UUIDText.text(UUIDText.random(environment)).filter { $0 != "-" }.prefix(16)
        let name = Self.signPrefix + digits
        let lock = try translating { () throws(FileError) in
            try medium.open(path(of: name), try modeOfNewFile).lockInTurn()
        }
        return WritingProcess(self, name: name, lock: lock, wasAlone: isAlone)
    }

    /// The lock of the gate, waited for: until whoever else opens the database has done so, or has done what nobody may come to.
    fileprivate func closeGate() throws(DatabaseError) -> any FileLock {
        try translating { () throws(FileError) in try openGate().lockInTurn() }
    }

    /// The lock of the gate; `nil` while somebody else holds it.
    fileprivate func closeGateIfFree() throws(DatabaseError) -> (any FileLock)? {
        try translating { () throws(FileError) in
            do throws(FileError) {
                return try openGate().lock()
            } catch {
                guard case .locked = error.code else { throw error }
                return nil
            }
        }
    }

    private func openGate() throws(FileError) -> any File {
        let gate = path(of: Self.gateName)
        do throws(FileError) {
            return try medium.open(gate, try modeOfNewFile)
        } catch {
            guard error.code == .alreadyExists else { throw error }
            return try medium.open(gate, .readWrite)
        }
    }

    /// Whoever may write the documents may take turns.
    private var modeOfNewFile: OpenMode {
        get throws(FileError) {
            try medium.status(of: DatabaseOpener.dataPath(path)).map { .createWith($0.access) } ?? .createNew
        }
    }

    private func requireUnlockedDocuments() throws(DatabaseError) {
        let documents = DatabaseOpener.dataPath(path)
        try translating { () throws(FileError) in
            guard try medium.status(of: documents) != nil else { return }
            try medium.open(documents, .readWrite).lock().release()
        }
    }

    // MARK: Looking

    /// Whether anybody has the database open to write it by turns.
    var isAny: Bool { get throws(DatabaseError) { try hasOthers(than: nil, removesOld: false) } }

    /// - Throws: `locked` when somebody has the database open to write it by turns.
    func requireNone() throws(DatabaseError) {
        guard try !isAny else { throw isOpen }
    }

    var isOpen: DatabaseError {
        DatabaseError(
            .locked,
            "Another process has the database \(path) open to write it by turns. Close it there, or open it by turns "
                + "(DatabaseOptions.writers) here, too; what needs the database for itself has to wait until it is closed there."
        )
    }

    /// Whether anybody holds a sign other than `own`.
    ///
    /// - Parameter removesOld: whether to remove those that nobody holds; only for the holder of the gate.
    fileprivate func hasOthers(than own: String?, removesOld: Bool) throws(DatabaseError) -> Bool {
        try translating { () throws(FileError) in
            guard try medium.status(of: path(of: Self.gateName)) != nil else { return false }
            var isHeld = false
            for name in try medium.list(path) where Self.isSign(name) && name != own {
                if try self.isHeld(name, removesOld: removesOld) { isHeld = true }
            }
            return isHeld
        }
    }

    /// Whether the name is one that ``sign(isAlone:)`` gives; whatever else is there is left alone.
    private static func isSign(_ name: String) -> Bool {
        guard name.hasPrefix(signPrefix) else { return false }
        let digits = name.dropFirst(signPrefix.count)
        return digits.utf8.count == 16 && digits.allSatisfy(\.isHexDigit)
    }

    private func isHeld(_ name: String, removesOld: Bool) throws(FileError) -> Bool {
        do throws(FileError) {
            let lock = try medium.open(path(of: name), .readWrite).lock()
            defer { lock.release() }
            if removesOld { try medium.remove(path(of: name)) }
            return false
        } catch {
            switch error.code {
            case .locked: return true
            // Its process has ended meanwhile.
            case .notFound: return false
            default: throw error
            }
        }
    }

    fileprivate func remove(_ name: String) { try? medium.remove(path(of: name)) }
}

/// An opening of a database that writes it by turns with other processes. It ends with ``leave()``, or with the process.
final class WritingProcess: Sendable {
    private let processes: WritingProcesses
    private let name: String
    private let lock: any FileLock
    /// Whether nobody else had the database open when this began.
    let wasAlone: Bool

    fileprivate init(_ processes: WritingProcesses, name: String, lock: any FileLock, wasAlone: Bool) {
        self.processes = processes
        self.name = name
        self.lock = lock
        self.wasAlone = wasAlone
    }

    /// Whether nobody else has the database open to write it now. Somebody may open it at any time.
    var isAlone: Bool {
        get throws(DatabaseError) { try !processes.hasOthers(than: name, removesOld: false) }
    }

    /// Runs `body` while nobody else has the database open to write it, nor can open it; `nil` when somebody has, or is just
    /// opening it. Waits for nobody, and who opens the database waits for `body`.
    func ifAlone<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R? {
        guard let gate = try processes.closeGateIfFree() else { return nil }
        defer { gate.release() }
        guard try !processes.hasOthers(than: name, removesOld: true) else { return nil }
        return try body()
    }

    /// Runs `body` as ``ifAlone(_:)`` does, but waits for those who are opening the database, and for whoever else asks for
    /// this.
    ///
    /// - Throws: `locked` when somebody else has the database open.
    func alone<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        let gate = try processes.closeGate()
        defer { gate.release() }
        guard try !processes.hasOthers(than: name, removesOld: true) else { throw processes.isOpen }
        return try body()
    }

    /// Ends the opening; a second time it does nothing.
    func leave() {
        processes.remove(name)
        lock.release()
    }
}

extension Database {
    /// Whether somebody has the database in the directory `path` open to write it by turns, so that whoever else writes it has to
    /// take turns, too.
    package static func isWrittenByTurns(_ path: String) throws(DatabaseError) -> Bool {
        try WritingProcesses(path: path, environment: .system).isAny
    }
}
