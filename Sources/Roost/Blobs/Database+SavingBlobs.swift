import Foundation

extension Database {
    /// Stores bytes, durably, and returns what a document refers to them by, as the form for an array does.
    public func saveBlob(
        _ data: Data, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) throws(DatabaseError) -> Blob {
        let writer = try makeBlobWriter(contentType: contentType, options: options)
        try writer.write(data)
        return try writer.finish()
    }

    /// Stores the content of a file, durably and in constant memory, and returns what a document refers to it by.
    ///
    /// - Parameters:
    ///   - file: The file, which stays as it is.
    ///   - contentType: Its MIME type, for the reference.
    ///   - options: What it is named by, and how it is stored.
    /// - Throws: `notFound` when there is no such file; `inputOutput` when it can't be read; `readOnly`, `closed`, `noSpace`.
    public func saveBlob(
        contentsOf file: URL, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) throws(DatabaseError) -> Blob {
        let writer = try makeBlobWriter(contentType: contentType, options: options)
        let handle = try reading(file) { try FileHandle(forReadingFrom: file) }
        defer { try? handle.close() }
        while let piece = try reading(file, { try handle.read(upToCount: 256 << 10) }), !piece.isEmpty {
            try writer.write(piece)
        }
        return try writer.finish()
    }

    private func reading<R>(_ file: URL, _ body: () throws -> R) throws(DatabaseError) -> R {
        do {
            return try body()
        } catch {
            let isMissing = (error as? CocoaError)?.code == .fileReadNoSuchFile
            throw DatabaseError(
                isMissing ? .notFound : .inputOutput,
                isMissing ? "There is no file \(file.path)." : "The file \(file.path) can't be read.",
                underlyingError: error)
        }
    }

    // MARK: For tasks

    /// As the form that blocks, without blocking a thread of the task's executor.
    public func saveBlob(
        _ bytes: [UInt8], contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) async throws(DatabaseError) -> Blob {
        try await work { (database, _) throws(DatabaseError) in
            try database.saveBlob(bytes, contentType: contentType, options: options)
        }
    }

    /// As the form that blocks, without blocking a thread of the task's executor.
    public func saveBlob(
        _ data: Data, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) async throws(DatabaseError) -> Blob {
        try await work { (database, _) throws(DatabaseError) in
            try database.saveBlob(data, contentType: contentType, options: options)
        }
    }

    /// As the form that blocks, without blocking a thread of the task's executor.
    public func saveBlob(
        contentsOf file: URL, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) async throws(DatabaseError) -> Blob {
        try await work { (database, _) throws(DatabaseError) in
            try database.saveBlob(contentsOf: file, contentType: contentType, options: options)
        }
    }
}

extension BlobWriter {
    /// Adds bytes to the content. After an error the blob can't be finished.
    ///
    /// - Throws: `closed`, `noSpace`, `inputOutput`.
    public func write(_ data: Data) throws(DatabaseError) {
        // A Data may be in several parts, each contiguous.
        for region in data.regions {
            let result: Result<Void, DatabaseError> = unsafe region.withUnsafeBytes { bytes in
                Result { () throws(DatabaseError) in unsafe try write(bytes) }
            }
            try result.get()
        }
    }
}
