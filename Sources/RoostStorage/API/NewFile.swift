import RoostBytes
import RoostFile

/// A file that is being made under a temporary name, locked before another process can find it under its own. It begins with
/// the magic of a store, durably, before anything else is written: by that a leftover of a crash is known.
///
/// It belongs to its maker by its descriptor and its identity, never by its name: the name may lead to another process's file by
/// the time it is renamed or removed. As long as ``lock`` is held no other process takes the name away.
struct NewFile: Sendable {
    let file: any File
    let lock: any FileLock
    private let name: String
    private let medium: any Medium

    /// Makes a file in the place of what a crash may have left of an earlier one.
    ///
    /// - Parameter access: who may do what with it; `nil` for what the process's umask leaves.
    /// - Throws: ``StoreError/Code/locked`` while another process makes it; ``StoreError/Code/alreadyExists`` when something
    ///   of that name is there that Roost did not make.
    init(_ name: String, _ medium: any Medium, _ access: FileAccess?) throws(StoreError) {
        for _ in 0..<NewFile.attempts {
            try LeftoverFile(name, medium).remove()
            let made: NewFile? = try fileCall { () throws(FileError) in
                do throws(FileError) {
                    let file = try medium.open(name, access.map { .createWith($0) } ?? .createNew)
                    return NewFile(file: file, lock: try file.lock(), name: name, medium: medium)
                } catch {
                    // Another process was faster; its lock will tell.
                    guard error.code == .alreadyExists else { throw error }
                    return nil
                }
            }
            // Another process may have taken it for a leftover before it was locked.
            if let made, try made.file.isNamed(name, in: medium) {
                try made.sign()
                self = made
                return
            }
        }
        throw StoreError(.locked, "\(name) is being made by another process again and again. Try it later.")
    }

    private init(file: any File, lock: any FileLock, name: String, medium: any Medium) {
        self.file = file
        self.lock = lock
        self.name = name
        self.medium = medium
    }

    /// Gives the file, which must be complete, the name `path`, in the place of whatever has that.
    ///
    /// - Throws: ``StoreError/Code/locked`` when the temporary name leads to another file by now.
    func rename(to path: String) throws(StoreError) {
        let isOwn = try Failpoint.trustedNames.isActive ? true : file.isNamed(name, in: medium)
        guard isOwn else {
            throw StoreError(
                .locked, "\(name) was replaced by another process. Nothing has changed; try again if need be."
            )
        }
        try fileCall { () throws(FileError) in try medium.rename(name, to: path) }
    }

    /// Removes the temporary name after a failure, where it still leads to this file, as far as that goes: the next opening
    /// does the rest.
    func discard() {
        file.removeName(name, in: medium)
    }

    /// Writes the magic, and makes it durable; a crash before that leaves no more than its length.
    private func sign() throws(StoreError) {
        do throws(StoreError) {
            try fileCall { () throws(FileError) in
                try FileHeader.magic.withView { (bytes) throws(FileError) in
                    unsafe try file.writeFully(bytes.buffer, at: 0)
                }
                try file.sync()
            }
        } catch {
            discard()
            throw error
        }
    }

    private static let attempts = 8
}

/// A file with a temporary name that a crash may have left.
struct LeftoverFile {
    let name: String
    let medium: any Medium

    init(_ name: String, _ medium: any Medium) {
        self.name = name
        self.medium = medium
    }

    /// Removes it, if there is one.
    ///
    /// - Parameter isOwned: whether the caller has the lock of the store that the file belongs to. Then whoever still has the
    ///   file's own lock is a compaction of a store that was closed, about to give up.
    /// - Throws: ``StoreError/Code/alreadyExists`` when what is there was not made by Roost,
    ///   ``StoreError/Code/locked`` when somebody is just writing it.
    func remove(isOwned: Bool = false) throws(StoreError) {
        let isForeign: Bool = try fileCall { () throws(FileError) in
            switch try find(.readWrite) {
            case .nothing: return false
            case .foreign: return true
            case .leftover(let file):
                let lock = isOwned ? nil : try file.lock()
                defer { withExtendedLifetime(lock) {} }
                // Whoever held the lock may have given the file its own name.
                if try medium.status(of: name)?.identity == file.identity() { try medium.remove(name) }
                return false
            }
        }
        guard !isForeign else {
            throw StoreError(
                .alreadyExists,
                "\(name) is in the way: Roost needs the name for a while, and what is there is not Roost's. Move it away."
            )
        }
    }

    /// Removes the name where the file has that of `path`, too, as a crash amid the renaming may leave it: whoever holds the
    /// lock of the file under `path` would take it for somebody else's who is still making the leftover.
    func removeSecondName(of path: String) throws(StoreError) {
        try fileCall { () throws(FileError) in
            guard let identity = try medium.status(of: name)?.identity,
                try medium.status(of: path)?.identity == identity
            else { return }
            try medium.remove(name)
        }
    }

    /// What has the name.
    private enum Found {
        case nothing
        /// Something that Roost did not make.
        case foreign
        case leftover(any File)
    }

    /// Looks once, so that it is not taken for foreign what another process makes meanwhile.
    private func find(_ mode: OpenMode) throws(FileError) -> Found {
        guard let status = try medium.status(of: name) else { return .nothing }
        guard status.kind == .file else { return .foreign }
        let file: any File
        do throws(FileError) {
            file = try medium.open(name, mode)
        } catch {
            guard error.code == .notFound else { throw error }
            return .nothing
        }
        // A file no longer than the magic may hold anything: a crash came before that was durable.
        if try file.size() <= UInt64(FileHeader.magic.count) { return .leftover(file) }
        let start = ByteBuffer(capacity: FileHeader.magic.count)
        start.resize(to: FileHeader.magic.count)
        start.resize(to: unsafe try file.readFully(into: start.mutableBytes, at: 0))
        return start.view.array == FileHeader.magic ? .leftover(file) : .foreign
    }
}

extension File {
    /// Whether `path` names this file now.
    func isNamed(_ path: String, in medium: any Medium) throws(StoreError) -> Bool {
        try fileCall { () throws(FileError) in try medium.status(of: path)?.identity == identity() }
    }

    /// Removes `name` where it names this file, as far as that goes. For whoever holds the file's lock.
    func removeName(_ name: String, in medium: any Medium) {
        if (try? isNamed(name, in: medium)) == true { try? medium.remove(name) }
    }
}
