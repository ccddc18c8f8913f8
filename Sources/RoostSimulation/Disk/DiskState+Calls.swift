import RoostFile

extension DiskState {
    /// What is to become of a call that has begun.
    enum Verdict: Equatable {
        case proceeds
        case isShort
        /// Answered as done, but not done.
        case isIgnored
        case fails(FileError)
        /// The power goes while the call is under way.
        case crashes
    }

    /// Counts and traces a call, and looks up what the plan has for it.
    mutating func begin(
        _ kind: CallKind, _ path: String, file: NodeID = 0, offset: UInt64 = 0, count: Int = 0
    ) throws(FileError) -> Verdict {
        if hasCrashed { throw Self.crashError(path) }
        counts.add(kind)
        trace.mix(UInt64(kind.rawValue))
        trace.mix(path)
        trace.mix(file)
        trace.mix(offset)
        trace.mix(UInt64(count))
        if kind.isChange, counts.changes == crashPoint {
            hasCrashed = true
            return .crashes
        }
        guard let fault = faults.fault(for: kind, counts, &generator) else { return .proceeds }
        switch fault {
        case .error(let code):
            if code == .interrupted { counts.interrupted += 1 }
            return .fails(Self.error(code, kind, path))
        case .short:
            if kind == .read || kind == .write { counts.shortened += 1 }
            return .isShort
        case .ignored: return kind == .sync || kind == .syncDirectory ? .isIgnored : .proceeds
        }
    }

    /// Begins a call that changes nothing on the medium.
    mutating func beginQuery(_ kind: CallKind, _ path: String, file: NodeID = 0) throws(FileError) {
        if case .fails(let error) = try begin(kind, path, file: file) { throw error }
    }

    /// Makes a call that does `change` or nothing; where the power goes, it may have been done all the same.
    mutating func perform<Result>(
        _ kind: CallKind, _ path: String, file: NodeID = 0, offset: UInt64 = 0,
        _ change: (inout DiskState) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        switch try begin(kind, path, file: file, offset: offset) {
        case .proceeds, .isShort, .isIgnored: return try change(&self)
        case .fails(let error): throw error
        case .crashes:
            _ = try? change(&self)
            throw Self.crashError(path)
        }
    }

    /// The error of every call on a disk whose power is gone.
    static func crashError(_ path: String) -> FileError {
        FileError(.other, operation: "crashed", path: path)
    }

    static func error(_ code: FileError.Code, _ kind: CallKind, _ path: String) -> FileError {
        let number: Int32 =
            switch code {
            case .permissionDenied: 1
            case .notFound: 2
            case .interrupted: 4
            case .inputOutput: 5
            case .locked: 11
            case .alreadyExists: 17
            case .noSpace: 28
            case .notAFile, .inherited, .noMemory, .other: 0
            }
        return FileError(code, operation: kind.operation, path: path, errno: number)
    }
}
