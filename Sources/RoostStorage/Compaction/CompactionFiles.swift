import RoostBytes
import RoostFile

/// The names that a compaction uses beside the store's own.
struct CompactionFiles {
    let path: String
    let medium: any Medium

    /// The new file until it takes the store's name.
    var target: String { path + ".compact" }
    var scratch: String { path + ".compact-scratch" }
    /// Is there while nobody knows whether the directory keeps the swap.
    private var unsynced: String { path + ".compact-unsynced" }

    /// Removes what a compaction left that did not come to its end, and makes a swap durable that is not.
    func removeLeftovers() throws(StoreError) {
        try fileCall { () throws(FileError) in
            for name in [target, scratch] where try medium.status(of: name) != nil { try medium.remove(name) }
            if try isMarkedUnsynced() { try swapAgain() }
        }
    }

    /// Removes the files after a failure, as far as that goes: the next opening does the rest.
    func discard() {
        for name in [target, scratch] {
            guard let status = try? medium.status(of: name), !status.isDirectory else { continue }
            try? medium.remove(name)
        }
    }

    // MARK: A swap whose sync failed

    /// Leaves a sign for ``removeLeftovers()`` that the directory could not be synced after the swap.
    func markUnsynced() { _ = try? medium.open(unsynced, .createNew) }

    /// Whether that sign is there.
    func isMarkedUnsynced() throws(FileError) -> Bool { try medium.status(of: unsynced) != nil }

    /// Takes the sign away after the name was changed once more and synced.
    func removeMark() throws(FileError) {
        if try isMarkedUnsynced() { try medium.remove(unsynced) }
    }

    /// Puts a copy of the file in its own place. After a sync that failed a later one that succeeds proves nothing of
    /// the changes before, so the name must be changed once more.
    private func swapAgain() throws(FileError) {
        let file = try medium.open(path, .readOnly)
        let copy = try medium.open(target, .createNew)
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
        try medium.rename(target, to: path)
        try medium.syncDirectory(of: path)
        try removeMark()
    }
}
