import RoostBytes
import RoostFile

/// Finds and checks commit records in a file.
struct LogScanner {
    let file: DataFile

    private var salt: UInt64 { file.header.salt }

    /// The record at `offset`, `nil` when there is none.
    func record(at offset: UInt64) throws(StoreError) -> CommitRecord? {
        let buffer = ByteBuffer(capacity: CommitRecord.size)
        buffer.resize(to: CommitRecord.size)
        let count = try fileCall { () throws(FileError) in
            unsafe try file.file.readFully(into: buffer.mutableBytes, at: offset)
        }
        guard count == CommitRecord.size else { return nil }
        return authentic(CommitRecord(decoding: buffer.view, at: offset, salt: salt), buffer.view)
    }

    /// `record` if its tag is right, where the file has tags.
    func authentic(_ record: CommitRecord?, _ bytes: ByteView) -> CommitRecord? {
        guard let record, file.codec.isTransformed else { return record }
        let expected = file.codec.tag(of: CommitRecord.authenticated(bytes))
        var difference: UInt8 = 0
        for (a, b) in zip(expected, record.tag) { difference |= a ^ b }
        return difference == 0 ? record : nil
    }

    /// The record that `record` names as the one before it; damage when it is not there.
    func previous(of record: CommitRecord) throws(StoreError) -> CommitRecord? {
        guard record.previous != 0 else { return nil }
        guard let previous = try self.record(at: record.previous),
            record.follows(previous), previous.number < record.number
        else { throw .damaged("a missing or changed commit record", at: record.previous, in: file.path) }
        return previous
    }

    /// The last commit that is on the medium as a whole.
    ///
    /// - Throws: ``StoreError/Code/damaged`` where the file shows that later ones were on the medium: no older state may pass for
    ///   the present one.
    func lastCommit() throws(StoreError) -> CommitRecord? {
        var (last, hasBarrier) = try lastWhole()
        while let found = last, !hasBarrier, try hasLaterSynced(after: found) {
            // Another process may have committed between the two looks; then there is more to be found now.
            let again = try lastWhole()
            guard again.record != found else {
                throw .damaged(
                    "commits that were on the medium and are not where they were", at: found.end,
                    in: file.path)
            }
            (last, hasBarrier) = again
        }
        return last
    }

    /// Steps back from the end of the file block by block, over preallocated space and over torn commits. A record
    /// counts only if the bytes of its commit, and of all commits before it that were not known to be synced when it
    /// was made, have the checksums that they should have; nothing is written.
    ///
    /// - Returns: the last whole commit, and whether a backup's barrier is behind it.
    private func lastWhole() throws(StoreError) -> (record: CommitRecord?, hasBarrier: Bool) {
        let size = try fileCall { () throws(FileError) in try file.file.size() }
        var hasBarrier = false
        var position = size / UInt64(Format.blockSize) * UInt64(Format.blockSize)
        if Failpoint.offByOneBlock.isActive { position -= min(position, UInt64(Format.blockSize)) }
        let window = ByteBuffer(capacity: Format.blockSize)
        var length = Format.blockSize
        while position > Format.firstCommit {
            let start = max(Format.firstCommit, position - min(position, UInt64(length)))
            window.resize(to: Int(position - start))
            let count = try fileCall { () throws(FileError) in
                unsafe try file.file.readFully(into: window.mutableBytes, at: start)
            }
            window.resize(to: count)
            while position > start {
                if let record = candidate(endingAt: Int(position - start), in: window.view, from: start) {
                    if record.kind == .barrier {
                        position = record.start
                        hasBarrier = true
                        continue
                    }
                    if try isWhole(record) { return (record, hasBarrier) }
                }
                position -= UInt64(Format.blockSize)
            }
            length = min(length * 8, LogScanner.largestWindow)
        }
        return (nil, hasBarrier)
    }

    static let largestWindow = 1 << 20

    func candidate(endingAt end: Int, in window: ByteView, from start: UInt64) -> CommitRecord? {
        guard end <= window.count else { return nil }
        let bytes = window.slice(end - CommitRecord.size, CommitRecord.size)
        let offset = start + UInt64(end - CommitRecord.size)
        return authentic(CommitRecord(decoding: bytes, at: offset, salt: salt), bytes)
    }

    /// Whether every commit from the one that was last known to be synced up to `record` has the right bytes.
    private func isWhole(_ record: CommitRecord) throws(StoreError) -> Bool {
        var current = record
        while true {
            guard try hasRightContent(current) else { return false }
            guard current.previous != 0 else { return true }
            guard let previous = try self.record(at: current.previous), current.follows(previous) else {
                // Below what was synced a missing record is damage, and no older state may pass for the present one.
                guard current.start > record.syncedEnd else {
                    throw .damaged("a missing or changed commit record", at: current.previous, in: file.path)
                }
                return false
            }
            if current.start <= record.syncedEnd { return true }
            if Failpoint.uncheckedCommit.isActive, previous.start <= record.syncedEnd { return true }
            current = previous
        }
    }

    /// Whether the bytes of the commit have the checksum in its record. `progress` is told how many were read.
    func hasRightContent(
        _ record: CommitRecord,
        _ progress: (UInt64) throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) throws(StoreError) -> Bool {
        if Failpoint.unverifiedContent.isActive { return true }
        var hash = Checksum(seed: salt)
        let buffer = ByteBuffer(capacity: Format.blockSize)
        // Its last view does not keep it.
        defer { extendLifetime(buffer) }
        var position = record.start
        while position < record.offset {
            buffer.resize(to: Int(min(record.offset - position, UInt64(LogScanner.largestWindow))))
            let count = try fileCall { () throws(FileError) in
                unsafe try file.file.readFully(into: buffer.mutableBytes, at: position)
            }
            guard count == buffer.count else { return false }
            position += UInt64(count)
            try progress(UInt64(count))
            if position < record.offset { hash.update(buffer.view) }
        }
        return hash.finalize(buffer.view) == record.contentChecksum
    }
}

// MARK: - Search

extension LogScanner {
    /// Whether a record behind the commit of `record` says that more than that commit was on the medium.
    ///
    /// Such a record counts wherever it is found: bytes that were inserted or taken out before it move it from its place, and
    /// nothing else makes bytes with the right checksum for the place that they name.
    func hasLaterSynced(after record: CommitRecord) throws(StoreError) -> Bool {
        let size = try fileCall { () throws(FileError) in try file.file.size() }
        guard record.end < size else { return false }
        let window = ByteBuffer(capacity: Int(min(size - record.end, UInt64(LogScanner.largestWindow))))
        defer { extendLifetime(window) }
        var position = record.end
        while position + UInt64(CommitRecord.size) <= size {
            window.resize(to: Int(min(size - position, UInt64(LogScanner.largestWindow))))
            let count = try fileCall { () throws(FileError) in
                unsafe try file.file.readFully(into: window.mutableBytes, at: position)
            }
            window.resize(to: count)
            guard count >= CommitRecord.size else { return false }
            let last = count - CommitRecord.size
            var index = 0
            while index <= last {
                let word = window.view.load(UInt64.self, at: index)
                // Where a record begins there is no zero.
                guard word != 0 else {
                    index += 8
                    continue
                }
                if word == CommitRecord.magic,
                    saysSynced(window.view.slice(index, CommitRecord.size), beyond: record)
                {
                    return true
                }
                index += 1
            }
            position += UInt64(last + 1)
        }
        return false
    }

    /// Whether `bytes` are a record, for whatever place, by which more than the commit of `record` was on the medium.
    private func saysSynced(_ bytes: ByteView, beyond record: CommitRecord) -> Bool {
        let found = CommitRecord(
            decoding: bytes, at: bytes.load(UInt64.self, at: 24), salt: file.header.salt)
        guard let found = authentic(found, bytes), found.kind != .barrier else { return false }
        return found.syncedEnd > record.end
    }

    /// The last record that stands whole before `end`, whatever its commit and the records before it look like;
    /// for finding a way on where the chain of records is broken.
    func nearestRecord(before end: UInt64) throws(StoreError) -> CommitRecord? {
        let block = UInt64(Format.blockSize)
        var position = end / block * block
        let window = ByteBuffer(capacity: Format.blockSize)
        var length = block
        while position > Format.firstCommit {
            let start = max(Format.firstCommit, position - min(position, length))
            window.resize(to: Int(position - start))
            let count = (try? unsafe file.file.readFully(into: window.mutableBytes, at: start)) ?? 0
            window.resize(to: count)
            while position > start {
                if let record = candidate(endingAt: Int(position - start), in: window.view, from: start),
                    record.kind != .barrier
                {
                    return record
                }
                position -= block
            }
            length = min(length * 8, UInt64(LogScanner.largestWindow))
        }
        return nil
    }
}

// MARK: - CommitStream

/// Follows a file's commits forwards, verifying each: that it continues the one before and that its bytes are whole.
///
/// A commit that is just being written is not there yet: it is read again the next time.
struct CommitStream {
    private let file: DataFile
    /// The commit that the next one must continue; `nil` before the file's first.
    private(set) var last: CommitRecord?
    private let window = ByteBuffer(capacity: CommitStream.windowLength)

    private static let windowLength = 1 << 18

    init(file: DataFile, after last: CommitRecord?) {
        self.file = file
        self.last = last
    }

    /// The next whole commit, `nil` when there is none.
    ///
    /// - Parameter visit: given the commit's bytes, record included, in pieces and before they are verified.
    mutating func next(
        _ visit: (ByteView, UInt64) throws(StoreError) -> Void = { (_, _) throws(StoreError) in }
    ) throws(StoreError) -> CommitRecord? {
        let start = last?.end ?? Format.firstCommit
        var position = start
        var hash = Checksum(seed: file.header.salt)
        while true {
            guard try fill(at: position, isFirst: position == start) else { return nil }
            let bytes = window.view
            let block = Format.blockSize
            if position == start, bytes[4] == 0,
                record(in: bytes.slice(0, block), at: start, from: start) == nil
            {
                return nil
            }
            for offset in stride(from: 0, to: bytes.count, by: block) {
                let part = bytes.slice(offset, block)
                let place = position + UInt64(offset)
                guard let record = record(in: part, at: place, from: start) else {
                    hash.update(part)
                    continue
                }
                let rest = part.slice(0, block - CommitRecord.size)
                guard hash.finalize(rest) == record.contentChecksum else { return nil }
                try visit(bytes.slice(0, offset + block), position)
                last = record
                return record
            }
            try visit(bytes, position)
            position += UInt64(bytes.count)
        }
    }

    /// Reads whole blocks into the window; `false` at the file's end.
    private func fill(at position: UInt64, isFirst: Bool) throws(StoreError) -> Bool {
        // Most commits are small, and most calls find none.
        window.resize(to: isFirst ? 4 * Format.blockSize : CommitStream.windowLength)
        let count = try fileCall { () throws(FileError) in
            unsafe try file.file.readFully(into: window.mutableBytes, at: position)
        }
        window.resize(to: count / Format.blockSize * Format.blockSize)
        return window.count > 0
    }

    /// The record at the end of `block`, if it is that of the commit that begins at `start` and continues ``last``.
    private func record(in block: ByteView, at place: UInt64, from start: UInt64) -> CommitRecord? {
        guard
            let record = LogScanner(file: file).candidate(endingAt: Format.blockSize, in: block, from: place),
            record.kind != .barrier, record.start == start, record.follows(last)
        else { return nil }
        return record
    }
}
