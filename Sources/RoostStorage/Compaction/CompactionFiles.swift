import RoostBytes
import RoostFile

/// The names that a compaction uses beside the store's own.
struct CompactionFiles {
    let path: String
    let medium: any Medium

    /// The new file until it takes the store's name.
    var target: String { path + ".compact" }
    var scratch: String { path + ".compact-scratch" }
    /// Is there while nobody knows whether the directory keeps the name.
    private var unsynced: String { path + ".compact-unsynced" }

    /// Removes what a compaction left that did not come to its end.
    ///
    /// - Parameter isShared: whether another process may be compacting the store.
    /// - Throws: ``StoreError/Code/locked`` when one is.
    func removeLeftovers(isShared: Bool) throws(StoreError) {
        if isShared { try LeftoverFile(target, medium).removeSecondName(of: path) }
        for name in [target, scratch] { try LeftoverFile(name, medium).remove(isOwned: !isShared) }
    }

    // MARK: A name whose sync failed

    /// Makes the store's name durable. Where that fails a sign stays, by which ``nameAnew()`` and the next backup to that name
    /// know: after a sync that failed a later one proves nothing of the changes before.
    func syncName() throws(FileError) {
        do throws(FileError) {
            try medium.syncDirectory(of: path)
        } catch {
            _ = try? medium.open(unsynced, .createNew)
            throw error
        }
    }

    /// Whether that sign is there.
    ///
    /// - Throws: ``FileError/Code/alreadyExists`` when something that is not Roost's has its name.
    func isMarkedUnsynced() throws(FileError) -> Bool {
        guard let status = try medium.status(of: unsynced) else { return false }
        guard status.kind == .file, status.size == 0 else {
            throw FileError(.alreadyExists, operation: "mark", path: unsynced)
        }
        return true
    }

    /// Takes the sign away after the name was changed once more and synced.
    func removeMark() throws(FileError) {
        if try isMarkedUnsynced() { try medium.remove(unsynced) }
    }

    /// Puts a copy of the file in its own place where that sign is there, so that a sync which succeeds covers the name.
    ///
    /// - Returns: whether the path names another file now.
    func nameAnew() throws(StoreError) -> Bool {
        guard try fileCall({ () throws(FileError) in try isMarkedUnsynced() }) else { return false }
        let file = try fileCall { () throws(FileError) in try medium.open(path, .readOnly) }
        let access = try fileCall { () throws(FileError) in try file.access() }
        let copy = try NewFile(target, medium, access)
        do throws(StoreError) {
            try fileCall { () throws(FileError) in try self.copy(file, to: copy.file) }
            try copy.rename(to: path)
        } catch {
            copy.discard()
            throw error
        }
        try fileCall { () throws(FileError) in
            try medium.syncDirectory(of: path)
            try removeMark()
        }
        return withExtendedLifetime(copy.lock) { true }
    }

    private func copy(_ file: any File, to copy: any File) throws(FileError) {
        let buffer = ByteBuffer(capacity: 1 << 20)
        var position: UInt64 = 0
        while true {
            buffer.resize(to: 1 << 20)
            buffer.resize(to: unsafe try file.readFully(into: buffer.mutableBytes, at: position))
            guard buffer.count > 0 else { break }
            unsafe try copy.writeFully(buffer.view.buffer, at: position)
            position += UInt64(buffer.count)
        }
        try copy.sync()
    }
}
