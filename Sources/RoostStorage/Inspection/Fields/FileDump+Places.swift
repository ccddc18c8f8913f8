import RoostBytes

extension FileDump {
    /// What the byte at `offset` belongs to.
    ///
    /// - Throws: ``StoreError/Code/notFound`` for an offset behind the file's end.
    package func section(at offset: UInt64) throws(StoreError) -> FileSection {
        guard offset < size else {
            throw StoreError(
                .notFound, "\(file.path) has \(size) bytes, so there is nothing at offset \(offset).")
        }
        if offset < Format.firstCommit {
            let block = UInt64(Format.blockSize)
            let sections = try FileDump.header(of: file.path, environment: .system)
            return sections[min(Int(offset / block), sections.count - 1)]
        }
        guard let commit = try commit(around: offset) else {
            let start = offset / 16 * 16
            return try raw(
                "Bytes of no commit", start..<size,
                problem:
                    "No commit that can be read has them: they were prepared for coming commits, a crash left them, "
                    + "or they are damaged.")
        }
        if offset >= commit.range.upperBound { return try record(of: commit) }
        return try section(at: offset, in: commit)
    }

    private func section(at offset: UInt64, in commit: CommitPart) throws(StoreError) -> FileSection {
        var found: Part?
        try forEachPart(of: commit) { (part) throws(StoreError) in
            if part.range.contains(offset) { found = part }
            return part.range.upperBound <= offset
        }
        guard let found else {
            return try raw(
                "Zeros that fill commit \(commit.number)", offset..<commit.range.upperBound, problem: nil)
        }
        return try section(of: found, showsContent: true)
    }

    /// The commit whose bytes have `offset` among them: its record is the next, unless that is damaged.
    private func commit(around offset: UInt64) throws(StoreError) -> CommitPart? {
        let block = UInt64(Format.blockSize)
        var end = (offset / block + 1) * block
        while end <= size {
            if let record = try LogScanner(file: file).record(at: end - UInt64(CommitRecord.size)) {
                guard record.start <= offset, record.kind != .barrier else { return nil }
                return CommitPart(
                    number: record.number, kind: Commit(record).kind, range: record.start..<record.offset)
            }
            end += block
        }
        return nil
    }

    /// A part of a commit, field by field.
    ///
    /// - Parameter showsContent: shows more of a value than its first bytes.
    package func section(of part: Part, showsContent: Bool = false) throws(StoreError) -> FileSection {
        let bytes = try read(part.range)
        let offset = part.range.lowerBound
        guard part.name != "damage", let shape = bytes.withView({ ChunkCodec.shape(of: $0) }) else {
            return try raw(
                "Damaged bytes", part.range, problem: "No chunk begins here, or one whose checksum is wrong.")
        }
        let chunk = ChunkReference(offset: offset, length: UInt32(truncatingIfNeeded: bytes.count))
        return bytes.withView { chunkSection($0, shape.kind, chunk, showsContent) }
    }

    private func chunkSection(
        _ bytes: ByteView, _ kind: ChunkKind, _ chunk: ChunkReference, _ showsContent: Bool
    ) -> FileSection {
        // `nil` where only the fields of the decoded payload can be shown.
        let shown = ChunkCodec.storedForm(bytes)
        var section = FileDump.section("Chunk: \(kind)", bytes, at: chunk.offset) {
            (fields) throws(MalformedBytes) in
            try fields.number(4, "checksum of a chunk", FieldText.hexadecimal)
            try fields.number(1, "kind and flags") { FieldText.hexadecimal($0) + ", \(kind)" }
            try fields.varint("length of the payload")
            if let shown { return try fields.readPayload(kind, shown, of: chunk) }
            try fields.raw(fields.end - fields.position, "payload as it is stored, compressed or encrypted")
        }
        var scratch: ByteBuffer?
        do {
            let (payload, form) = try file.codec.stored(in: bytes, kind, at: chunk, scratch: &scratch)
            withExtendedLifetime(scratch) {
                if shown == nil { add(payload, kind, form, chunk, to: &section) }
                if showsContent, kind == .value {
                    section.fields += FileDump.rows(payload, at: 0, isDecoded: true)
                }
            }
        } catch {
            section.problems.append("It has \(error.reason).")
        }
        return section
    }

    /// Adds the fields of a payload that had to be decoded.
    private func add(
        _ payload: ByteView, _ kind: ChunkKind, _ form: ChunkCodec.Form, _ chunk: ChunkReference,
        to section: inout FileSection
    ) {
        let fields = FieldReader(payload, at: 0, isDecoded: true)
        do throws(MalformedBytes) {
            try fields.readPayload(kind, form, of: chunk)
        } catch {
            section.problems.append("From byte \(error.offset) of its payload on nothing can be made of it.")
        }
        section.fields += fields.fields.sorted { ($0.offset, $0.length) < ($1.offset, $1.length) }
    }
}
