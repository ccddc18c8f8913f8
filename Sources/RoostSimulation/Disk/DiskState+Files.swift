import RoostFile

/// The calls on an open file.
extension DiskState {
    mutating func read(
        _ file: NodeID, _ path: String, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileError) -> Int {
        var count = buffer.count
        switch try begin(.read, path, file: file, offset: offset, count: count) {
        case .fails(let error): throw error
        case .isShort: count = shortened(count)
        default: break
        }
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        let done = unsafe node(file).current.read(into: target, at: offset)
        counts.bytesRead += done
        return done
    }

    mutating func write(
        _ file: NodeID, _ path: String, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(FileError) -> Int {
        let verdict = try begin(.write, path, file: file, offset: offset, count: bytes.count)
        unsafe trace.mix(bytes)
        // What no file can hold fits as little as what the disk has no room for.
        let isPossible = offset <= UInt64(Int64.max) - UInt64(bytes.count)
        let room = !isPossible ? 0 : fittingCount(file, offset, bytes.count)
        switch verdict {
        case .fails(let error):
            if error.code == .inputOutput {
                unsafe store(file, bytes, count: generator.next(below: room + 1), at: offset)
            }
            throw error
        case .crashes:
            unsafe store(file, bytes, count: room, at: offset)
            throw Self.crashError(path)
        default: break
        }
        if room == 0, bytes.count > 0 { throw Self.error(.noSpace, .write, path) }
        let count = verdict == .isShort ? shortened(room) : room
        unsafe store(file, bytes, count: count, at: offset)
        counts.bytesWritten += count
        return count
    }

    mutating func sync(_ file: NodeID, _ path: String) throws(FileError) {
        switch try begin(.sync, path, file: file) {
        case .proceeds, .isShort: nodes[file]?.sync()
        case .isIgnored: break
        case .crashes: throw Self.crashError(path)
        case .fails(let error):
            if error.code != .interrupted {
                var dice = CrashDice(.random, tearing, unsyncedRange(of: file), generator)
                nodes[file]?.failSync(&dice)
                generator = dice.generator
            }
            throw error
        }
    }

    mutating func truncate(_ file: NodeID, _ path: String, to size: UInt64) throws(FileError) {
        try perform(.truncate, path, file: file, offset: size) { disk throws(FileError) in
            if size > UInt64(Int64.max) { throw Self.error(.noSpace, .truncate, path) }
            let sequence = disk.takeSequence()
            disk.nodes[file]?.truncate(to: size, sequence: sequence)
        }
    }

    /// Takes the lock and returns what releases it.
    mutating func lock(_ file: NodeID, _ path: String) throws(FileError) -> UInt64 {
        try beginQuery(.lock, path, file: file)
        guard locks[file] == nil else { throw Self.error(.locked(holder: "another process"), .lock, path) }
        let token = takeSequence()
        locks[file] = token
        return token
    }

    /// Lengths between 1 and one less than `count`, where there are any.
    private mutating func shortened(_ count: Int) -> Int {
        count > 1 ? 1 + generator.next(below: count - 1) : count
    }

    private mutating func store(
        _ file: NodeID, _ bytes: UnsafeRawBufferPointer, count: Int, at offset: UInt64
    ) {
        if count == 0 { return }
        let sequence = takeSequence()
        unsafe nodes[file]?.write(
            UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset, sequence: sequence)
    }

    /// How many of `count` bytes at `offset` the disk has room for.
    private func fittingCount(_ file: NodeID, _ offset: UInt64, _ count: Int) -> Int {
        guard let free = freePages else { return count }
        let image = node(file).current
        if image.missingPages(at: offset, count: count) <= free { return count }
        var fitting = 0
        var left = free
        for part in PageParts(offset: offset, count: count) {
            left -= image.missingPages(at: offset + UInt64(part.source.lowerBound), count: part.source.count)
            if left < 0 { break }
            fitting = part.source.upperBound
        }
        return fitting
    }

    func node(_ file: NodeID) -> FileNode {
        nodes[file] ?? FileNode(isDirectory: false)
    }

    private func unsyncedRange(of file: NodeID) -> Range<UInt64> {
        (node(file).unsynced.first?.sequence ?? nextSequence)..<nextSequence
    }
}
