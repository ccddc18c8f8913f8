import RoostFile

/// The calls on names.
extension DiskState {
    /// Where a path leads: its entry, and the node that has this name now.
    struct Place {
        /// `nil` for the root, which no directory holds.
        var entry: Entry?
        var node: NodeID?
    }

    mutating func open(_ path: String) throws(FileError) -> NodeID {
        try beginQuery(.open, path)
        guard let id = try place(path, .open).node else { throw Self.error(.notFound, .open, path) }
        if node(id).isDirectory { throw Self.error(.notAFile(.directory), .open, path) }
        nodes[id]?.openHandles += 1
        return id
    }

    mutating func create(_ path: String) throws(FileError) -> NodeID {
        try perform(.create, path) { disk throws(FileError) in
            let id = try disk.addEntry(path, FileNode(isDirectory: false), .create)
            disk.nodes[id]?.openHandles += 1
            return id
        }
    }

    mutating func createDirectory(_ path: String) throws(FileError) {
        _ = try perform(.createDirectory, path) { disk throws(FileError) in
            try disk.addEntry(path, FileNode(isDirectory: true), .createDirectory)
        }
    }

    mutating func rename(_ source: String, to destination: String) throws(FileError) {
        trace.mix(destination)
        try perform(.rename, source) { disk throws(FileError) in
            let from = try disk.place(source, .rename)
            let to = try disk.place(destination, .rename)
            guard let moved = from.node else { throw Self.error(.notFound, .rename, source) }
            guard let oldEntry = from.entry, let newEntry = to.entry else {
                throw Self.error(.other, .rename, source)
            }
            if moved == to.node { return }
            let isDirectory = disk.node(moved).isDirectory
            if let replaced = to.node { try disk.checkReplaceable(replaced, isDirectory, destination) }
            let sequence = disk.takeSequence()
            disk.apply(EntryChange(sequence: sequence, entry: newEntry, node: moved))
            disk.apply(
                EntryChange(
                    sequence: disk.takeSequence(), entry: oldEntry, node: nil, requires: sequence,
                    isTied: isDirectory))
        }
    }

    mutating func remove(_ path: String) throws(FileError) {
        try perform(.remove, path) { disk throws(FileError) in
            let place = try disk.place(path, .remove)
            guard let id = place.node else { throw Self.error(.notFound, .remove, path) }
            guard let entry = place.entry, disk.names.entries(in: id).isEmpty else {
                throw Self.error(.other, .remove, path)
            }
            disk.apply(EntryChange(sequence: disk.takeSequence(), entry: entry, node: nil))
        }
    }

    mutating func syncDirectory(of path: String) throws(FileError) {
        let verdict = try begin(.syncDirectory, path)
        if verdict == .crashes { throw Self.crashError(path) }
        let directory = try place(directoryPart(of: path), .syncDirectory)
        guard let id = directory.node, node(id).isDirectory else {
            throw Self.error(.notFound, .syncDirectory, path)
        }
        switch verdict {
        case .fails(let error):
            if error.code != .interrupted {
                let first = names.unsynced.first?.sequence ?? nextSequence
                var dice = CrashDice(.random, tearing, first..<nextSequence, generator)
                names.failSync(id, &dice)
                generator = dice.generator
            }
            throw error
        case .isIgnored: break
        default: names.sync(id)
        }
    }

    /// Names in the disk's own order, which is none.
    mutating func list(_ path: String) throws(FileError) -> [String] {
        try beginQuery(.list, path)
        guard let id = try place(path, .list).node, node(id).isDirectory else {
            throw Self.error(.notFound, .list, path)
        }
        return names.entries(in: id).map(\.name).shuffled(using: &generator)
    }

    mutating func status(of path: String) throws(FileError) -> FileStatus? {
        try beginQuery(.status, path)
        guard let id = findNode(path) else { return nil }
        return FileStatus(
            size: node(id).current.size, identity: identity(of: id),
            kind: node(id).isDirectory ? .directory : .file, access: Self.access)
    }

    /// Who may do what with any file: the one user there is.
    static let access = FileAccess(permissions: 0o600, owner: 0, group: 0)

    func identity(of id: NodeID) -> FileIdentity {
        FileIdentity(device: 1, inode: id)
    }

    /// The node that `path` names, `nil` where there is none.
    func findNode(_ path: String) -> NodeID? {
        (try? place(path, .status))?.node
    }

    /// - Throws: ``FileError/Code/notFound`` where a directory on the way is missing.
    func place(_ path: String, _ kind: CallKind) throws(FileError) -> Place {
        var place = Place(entry: nil, node: Self.root)
        for name in path.split(separator: "/") where name != "." {
            guard let directory = place.node, node(directory).isDirectory else {
                throw Self.error(.notFound, kind, path)
            }
            let entry = Entry(directory: directory, name: String(name))
            place = Place(entry: entry, node: names[entry])
        }
        return place
    }

    private mutating func addEntry(
        _ path: String, _ node: FileNode, _ kind: CallKind
    ) throws(FileError) -> NodeID {
        let place = try place(path, kind)
        guard let entry = place.entry, place.node == nil else { throw Self.error(.alreadyExists, kind, path) }
        let id = add(node)
        apply(EntryChange(sequence: takeSequence(), entry: entry, node: id))
        return id
    }

    private func checkReplaceable(
        _ replaced: NodeID, _ byDirectory: Bool, _ path: String
    ) throws(FileError) {
        if node(replaced).isDirectory != byDirectory || !names.entries(in: replaced).isEmpty {
            throw Self.error(.other, .rename, path)
        }
    }

    private mutating func apply(_ change: EntryChange) {
        if let old = names[change.entry] { nodes[old]?.links -= 1 }
        if let new = change.node { nodes[new]?.links += 1 }
        names.apply(change)
        endUse()
    }
}
