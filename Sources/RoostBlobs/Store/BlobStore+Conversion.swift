import RoostBytes
import RoostFile

extension BlobStore {
    /// Writes every blob that is in another layout than new ones are anew and removes its old file.
    ///
    /// A crash leaves each blob in one layout or both, so that it is found by a store that has both; calling this again
    /// ends the work. Plain content is compared with its digest on the way: what is damaged is encrypted as it is, so that
    /// nothing is left in the clear, and marked, so that nobody takes it for authentic. An encrypted blob that cannot be
    /// read stays where it is; so does what is no file.
    ///
    /// - Returns: the names of the files that could not be read.
    package func convert() throws(BlobError) -> [String] {
        let target = layout
        var unreadable: [String] = []
        for file in try files() where !target.owns(file.name) {
            do throws(BlobError) {
                guard try convert(file, to: target) else { continue }
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

    /// Converts one file, if it is one; `false` when there is nothing to remove.
    private func convert(_ file: BlobFile, to target: BlobLayout) throws(BlobError) -> Bool {
        let status = try RoostBlobs.medium { () throws(FileError) in try medium.status(of: path(file.name)) }
        guard let status, status.kind == .file, let stored = try file.openStored(in: self) else {
            return false
        }
        // Whoever has put the same content again since has done the work; and may have mended it.
        let new = BlobFile(name: target.name(of: stored.digest, stored.encoding), layout: target)
        if let done = try? new.open(in: self) {
            let isWhole = done.isAuthenticated ? true : try done.isWhole()
            if isWhole {
                try secure(new)
                return true
            }
        }
        try rewrite(stored.source, try facts(of: stored), as: target, status.access)
        return true
    }

    /// What the header of an encrypted file says of `stored`.
    private func facts(of stored: StoredBlob) throws(BlobError) -> SealedFacts {
        var facts = SealedFacts(
            digest: stored.digest, encoding: stored.encoding, storedLength: stored.source.length,
            contentLength: stored.contentLength ?? stored.source.length)
        facts.isDamaged = stored.isDamaged
        guard !stored.isAuthenticated else { return facts }
        do throws(BlobError) {
            let reader = try BlobFileReader(stored)
            facts.contentLength = reader.length
            facts.isDamaged = try !reader.isWhole()
        } catch {
            guard error.code == .damaged else { throw error }
            facts.isDamaged = true
        }
        return facts
    }

    /// Copies what is stored of a blob into a file of another layout.
    private func rewrite(
        _ source: any ByteSource, _ facts: SealedFacts, as target: BlobLayout, _ access: FileAccess
    ) throws(BlobError) {
        let (file, temporary) = try makeTemporary(access)
        do throws(BlobError) {
            let sink = target.makeSink(file)
            let buffer = ByteBuffer(capacity: 256 << 10)
            var offset: UInt64 = 0
            while offset < source.length {
                buffer.resize(to: Int(min(256 << 10, source.length - offset)))
                unsafe try source.read(into: buffer.mutableBytes, at: offset)
                unsafe try sink.write(buffer.view.buffer)
                offset += UInt64(buffer.count)
            }
            try sink.finish(facts)
            try RoostBlobs.medium { () throws(FileError) in try file.sync() }
            try give(target.name(of: facts.digest, facts.encoding), to: temporary)
        } catch {
            try? medium.remove(temporary)
            throw error
        }
    }
}
