import RoostBytes
import RoostFile

extension BlobStore {
    /// Makes `target` a directory with the same files of blobs as this one: copies what it lacks, byte by byte, and
    /// removes what is only there. What both have is not looked into, since files of one name have one content.
    ///
    /// Nothing may remove or convert blobs meanwhile, here or there. A crash leaves files that are whole; calling this
    /// again ends the work.
    ///
    /// - Returns: the number of bytes that were copied.
    package func mirror(to target: BlobStore) throws(BlobError) -> UInt64 {
        let wanted = Set(try files().map(\.name))
        target.setLayouts(state.withLock { $0.layouts })
        let present = Set(try target.files().map(\.name))
        var copied: UInt64 = 0
        for name in wanted.subtracting(present).sorted() { copied += try copy(name, to: target) }
        for name in present.subtracting(wanted) {
            try RoostBlobs.medium { () throws(FileError) in try target.medium.remove(target.path(name)) }
        }
        if !present.union(wanted).isEmpty {
            try RoostBlobs.medium { () throws(FileError) in
                try target.medium.syncDirectory(of: target.incoming)
            }
        }
        return copied
    }

    private func copy(_ name: String, to target: BlobStore) throws(BlobError) -> UInt64 {
        let (file, temporary) = try target.makeTemporary()
        do throws(BlobError) {
            return try RoostBlobs.medium { () throws(FileError) in
                let source = try medium.open(path(name), .readOnly)
                let buffer = ByteBuffer(capacity: 256 << 10)
                var offset: UInt64 = 0
                while true {
                    buffer.resize(to: 256 << 10)
                    let count = unsafe try source.readFully(into: buffer.mutableBytes, at: offset)
                    if count == 0 { break }
                    unsafe try file.writeFully(buffer.view.slice(0, count).buffer, at: offset)
                    offset += UInt64(count)
                }
                try file.sync()
                try target.medium.rename(temporary, to: target.path(name))
                return offset
            }
        } catch {
            try? target.medium.remove(temporary)
            throw error
        }
    }
}
