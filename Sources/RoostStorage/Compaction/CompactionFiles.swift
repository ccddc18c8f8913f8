import RoostFile

/// The names that a compaction uses beside the store's own.
struct CompactionFiles {
    let path: String
    let medium: any Medium

    /// The new file until it takes the store's name.
    var target: String { path + ".compact" }
    var scratch: String { path + ".compact-scratch" }

    /// Removes what a compaction left that did not come to its end.
    ///
    /// A leftover also says that the directory may have changes that are not durable, a swap included, so it is synced
    /// first: commits must not go to a file whose name a crash could take back.
    func removeLeftovers() throws(StoreError) {
        try fileCall { () throws(FileError) in
            if try medium.status(of: target) != nil {
                try medium.syncDirectory(of: path)
                try medium.remove(target)
            }
            if try medium.status(of: scratch) != nil { try medium.remove(scratch) }
        }
    }

    /// Removes the files after a failure, as far as that goes: the next opening does the rest.
    func discard() {
        for name in [target, scratch] {
            guard let status = try? medium.status(of: name), !status.isDirectory else { continue }
            try? medium.remove(name)
        }
    }

    /// Leaves a sign that the directory was not synced after the swap, for ``removeLeftovers()``.
    func markUnsynced() { _ = try? medium.open(target, .createNew) }
}
