/// A change of a file's contents that no sync has covered.
struct FileChange: Sendable {
    enum Kind: Sendable {
        case write(offset: UInt64, bytes: [UInt8])
        case truncate(size: UInt64)
    }

    /// The change's place among all changes on the disk.
    var sequence: UInt64
    var kind: Kind
}

/// A file or directory apart from its names.
struct FileNode: Sendable {
    let isDirectory: Bool
    /// What reads show: the system's cache.
    var current = FileImage()
    /// What the medium holds for certain.
    var durable = FileImage()
    /// How `current` came from `durable`, oldest first.
    private(set) var unsynced: [FileChange] = []
    /// Names in the current name space.
    var links = 0
    var openHandles = 0

    init(isDirectory: Bool) {
        self.isDirectory = isDirectory
    }

    /// A file with these contents on the medium.
    init(durable image: FileImage) {
        isDirectory = false
        current = image
        durable = image
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, sequence: UInt64) {
        unsafe current.store(bytes, at: offset)
        current.extend(to: offset + UInt64(bytes.count))
        let copy = unsafe [UInt8](bytes)
        unsynced.append(FileChange(sequence: sequence, kind: .write(offset: offset, bytes: copy)))
    }

    mutating func truncate(to size: UInt64, sequence: UInt64) {
        current.truncate(to: size)
        unsynced.append(FileChange(sequence: sequence, kind: .truncate(size: size)))
    }

    /// All unsynced changes reach the medium. Linear in the pages they touch.
    mutating func sync() {
        if unsynced.isEmpty { return }
        for change in unsynced {
            switch change.kind {
            case .write(let offset, let bytes):
                durable.adoptPages(at: offset, count: bytes.count, from: current)
            case .truncate(let size):
                durable.truncate(to: size)
                durable.adoptPages(at: size, count: 1, from: current)
            }
        }
        if durable.size > current.size {
            durable.truncate(to: current.size)
        } else {
            durable.extend(to: current.size)
        }
        unsynced = []
    }

    /// Each unsynced change reaches the medium or is forgotten; `current` shows them all the same.
    mutating func failSync(_ dice: inout CrashDice) {
        durable = survivors(&dice)
        unsynced = []
    }

    /// What the medium may hold after a crash now.
    func survivors(_ dice: inout CrashDice) -> FileImage {
        var image = durable
        for change in unsynced {
            switch change.kind {
            case .write(let offset, let bytes):
                dice.apply(bytes, at: offset, sequence: change.sequence, to: &image, beyond: durable.size)
            case .truncate(let size):
                if dice.survives(change.sequence) { image.truncate(to: size) }
            }
        }
        image.truncate(to: image.size)
        return image
    }
}
