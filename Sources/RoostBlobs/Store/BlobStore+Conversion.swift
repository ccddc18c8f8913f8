import RoostBytes
import RoostFile

extension BlobStore {
    /// Writes every blob that is in another layout than new ones are anew and removes its old file.
    ///
    /// A crash leaves each blob in one layout or both, so that it is found by a store that has both; calling this again
    /// ends the work. Content is not verified, it arrives as it was; a blob that cannot be read at all stays where it is.
    ///
    /// - Returns: the names of the files that could not be read.
    package func convert() throws(BlobError) -> [String] {
        let target = layout
        var unreadable: [String] = []
        for file in try files() where !target.owns(file.name) {
            do throws(BlobError) {
                guard let reader = try file.open(in: self) else { continue }
                try rewrite(reader, as: target)
            } catch {
                guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
                unreadable.append(file.name)
                continue
            }
            try RoostBlobs.medium { () throws(FileError) in try medium.remove(path(file.name)) }
        }
        if try exists() {
            try RoostBlobs.medium { () throws(FileError) in try medium.syncDirectory(of: incoming) }
        }
        return unreadable
    }

    /// Copies what is stored of a blob into a file of another layout.
    private func rewrite(_ reader: BlobFileReader, as target: BlobLayout) throws(BlobError) {
        let (file, temporary) = try makeTemporary()
        do throws(BlobError) {
            let sink = target.makeSink(file)
            let buffer = ByteBuffer(capacity: 256 << 10)
            buffer.resize(to: 256 << 10)
            var offset: UInt64 = 0
            while offset < reader.storedLength {
                let count = unsafe try reader.readStored(into: buffer.mutableBytes, at: offset)
                unsafe try sink.write(buffer.view.slice(0, count).buffer)
                offset += UInt64(count)
            }
            try sink.finish(
                SealedFacts(
                    digest: reader.digest, encoding: reader.encoding, storedLength: reader.storedLength,
                    contentLength: reader.length))
            try RoostBlobs.medium { () throws(FileError) in
                try file.sync()
                let name = path(target.name(of: reader.digest, reader.encoding))
                try medium.rename(temporary, to: name)
                try medium.syncDirectory(of: name)
            }
        } catch {
            try? medium.remove(temporary)
            throw error
        }
    }
}
