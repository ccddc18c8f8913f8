import RoostFile

/// The empty file `copy` in a backup's directory: whoever opens the backup for writing begins another history.
///
/// Without it, a peer that has seen sequences of the original could take those of the restored copy for the same.
struct CopyMark {
    let directory: String
    let medium: any Medium

    private var path: String { directory.last == "/" ? directory + "copy" : "\(directory)/copy" }

    var exists: Bool {
        get throws(DatabaseError) {
            let status = try translating { () throws(FileError) in try medium.status(of: path) }
            return status?.kind == .file && status?.size == 0
        }
    }

    /// Makes the file, durably.
    func set() throws(DatabaseError) {
        try translating { () throws(FileError) in
            let isNew = try medium.status(of: path) == nil
            if isNew { try medium.open(path, .createNew).sync() }
            // Also where it was there: whoever made it may have ended before it was durable.
            try medium.syncName(path, isNew: isNew)
        }
    }

    /// Removes the file, durably.
    func remove() throws(DatabaseError) {
        try translating { () throws(FileError) in
            try medium.remove(path)
            try medium.syncDirectory(of: path)
        }
    }
}

extension DatabaseCore {
    /// Gives all collections new epochs, in one commit.
    func renewEpochs() throws(DatabaseError) {
        try write { (batch) throws(DatabaseError) in
            for (name, trees) in try collections(in: store.snapshot()) {
                try batch.writer(name, trees).record.renewEpoch(environment)
            }
        }
    }
}
