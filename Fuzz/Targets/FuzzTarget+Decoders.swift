import RoostBytes

@testable import RoostStorage

/// The engine's decoders, each by itself. Checksums are made right before the decoder sees the input.
extension FuzzTarget {
    static let engineDecoders = [header, record, chunk, node, packedLeaf, leafChanges, operations, directory]

    private static let header = FuzzTarget("header", largestInput: Format.blockSize) {
        let encoded = FileHeader(storeID: ids, fileID: ids, salt: 1, created: 2, generation: 3).encoded()
        return withExtendedLifetime(encoded) { [encoded.view.array] }
    } run: { input in
        let buffer = ByteBuffer()
        buffer.append(Array(input.prefix(Format.blockSize - 8)))
        buffer.append(zeros: Format.blockSize - 8 - buffer.count)
        buffer.append(integer: Checksum.of(buffer.view, seed: 0))
        guard let header = try? FileHeader(decoding: buffer.view, features: .max) else { return }
        let copy = header.encoded()
        let again = try FileHeader(decoding: copy.view, features: .max)
        try demand(again == header, "a header that changes when it is written")
    }

    private static let ids = (0..<16).map { UInt8($0) }

    private static let record = FuzzTarget("record", largestInput: CommitRecord.size) {
        var record = CommitRecord(.log, number: 7, syncedEnd: 8192, time: 9)
        (record.offset, record.start, record.previous, record.checkpoint) = (16192, 12288, 12096, 12096)
        let buffer = ByteBuffer()
        record.encode(to: buffer, codec: ChunkCodec(emptyHeader, transform: nil))
        return [buffer.view.array]
    } run: { input in
        let buffer = ByteBuffer()
        buffer.append(integer: CommitRecord.magic)
        buffer.append(Array(input.dropFirst(8).prefix(CommitRecord.size - 16)))
        buffer.append(zeros: CommitRecord.size - 8 - buffer.count)
        let offset = buffer.view.load(UInt64.self, at: 24)
        buffer.append(integer: Checksum.of(buffer.view, seed: 5 &+ offset))
        guard let record = CommitRecord(decoding: buffer.view, at: offset, salt: 5) else { return }
        try demand(record.start < record.offset, "a commit that ends before it starts")
        try demand(record.end % UInt64(Format.blockSize) == 0, "a commit that ends within a block")
        for chunk in [record.operations, record.directory] {
            guard let chunk else { continue }
            try demand(
                chunk.offset >= record.start && chunk.end <= record.offset, "a chunk outside its commit")
        }
    }

    private static let emptyHeader = FileHeader(
        storeID: ids, fileID: ids, salt: 0, created: 0, generation: 0)

    private static let chunk = FuzzTarget("chunk", largestInput: 8192) {
        let codec = ChunkCodec(emptyHeader, transform: nil)
        let text = [UInt8](repeating: 7, count: 3000)
        return [0, 6].map { (level: Int32) in
            let buffer = ByteBuffer()
            _ = text.withView { codec.append($0, kind: .value, at: 0, level: level, to: buffer) }
            return buffer.view.array
        }
    } run: { input in
        guard input.count > 5 else { return }
        let codec = ChunkCodec(emptyHeader, transform: nil)
        let buffer = ByteBuffer()
        buffer.append(input)
        _ = ChunkCodec.shape(of: buffer.view)
        buffer.store(codec.checksum(buffer.view, 0), at: 0)
        try demand(codec.isWhole(buffer.view, at: 0), "a chunk with a right checksum that is not whole")
        let place = ChunkReference(offset: 0, length: UInt32(input.count))
        for kind in [ChunkKind.value, .node, .operations, .directory] {
            var scratch: ByteBuffer?
            guard let payload = try? codec.payload(of: buffer.view, kind, at: place, scratch: &scratch) else {
                continue
            }
            try demand(payload.count <= input.count * 1100, "a payload out of proportion")
            _ = withExtendedLifetime(scratch) { XXH3.hash(payload) }
        }
    }

    private static let node = FuzzTarget("node", largestInput: 2048) {
        try StoreSeeds.pages()
    } run: { input in
        let buffer = ByteBuffer()
        buffer.append(input)
        guard let page = PageView(buffer.view) else { return }
        let fault = PageCheck(page: page, lower: nil, upper: nil).fault()
        for index in 0..<page.count {
            let key = page.key(index)
            try read(page, index)
            let (found, isThere) = key.withView { page.search($0) }
            try demand(found <= page.count, "a place outside the node")
            _ = key.withView { page.childIndex($0) }
            guard fault == nil, page.level == 0 else { continue }
            try demand(isThere && found == index, "a key of a sound node that is not found")
        }
    }

    private static let packedLeaf = FuzzTarget("packed-leaf", largestInput: 2048) {
        try StoreSeeds.packedLeaves()
    } run: { input in
        let (packed, output) = (ByteBuffer(), ByteBuffer())
        packed.append(input)
        guard (try? PackedLeaf.unpack(packed.view, into: output)) != nil else { return }
        try demand(output.count <= LeafBuilder.largestPage, "a page larger than any can be")
        guard let page = PageView(output.view) else { throw FuzzFinding("an unpacked leaf that is no page") }
        let (again, copy) = (ByteBuffer(), ByteBuffer())
        guard PageCheck(page: page, lower: nil, upper: nil).fault() == nil,
            try PackedLeaf.pack(page, length: page.bytes.count, to: again)
        else { return }
        try PackedLeaf.unpack(again.view, into: copy)
        try demand(copy.view.compare(output.view) == 0, "a leaf that packing changes")
    }

    private static let leafChanges = FuzzTarget("leaf-changes", largestInput: 1024) {
        try StoreSeeds.leafChanges()
    } run: { input in
        let buffer = ByteBuffer()
        buffer.append(input)
        guard let changes = try? LeafChanges(buffer.view) else { return }
        defer { extendLifetime(changes) }
        let page = changes.page
        // Together with a leaf they fit a page.
        guard page.bytes.count < LeafBuilder.largestPage / 2 else { return }
        let tags = try (0..<page.count).map { try page.taggedEntry($0).tag }
        let deletions = tags.map { $0 & DeltaPage.tombstone != 0 }
        let (again, merged) = (ByteBuffer(), ByteBuffer())
        // A leaf of some entries, with all keys in common that the changes have.
        let builder = LeafBuilder()
        for byte in 0..<40 as Range<UInt8> {
            let key = page.prefix.array + [byte &* 6, byte]
            key.withView { builder.add(key: $0, .inline(.empty)) }
        }
        guard let leaf = PageView(builder.build(0..<builder.count).page) else { return }
        unsafe try LeafBuilder.merge(leaf, page, using: LeafBuilder()) { length in
            merged.reset()
            merged.resize(to: length)
            return unsafe merged.mutableBytes
        }
        guard let whole = PageView(merged.view),
            PageCheck(page: whole, lower: nil, upper: nil).fault() == nil
        else { throw FuzzFinding("a leaf that changes make unsound") }
        for index in 0..<page.count {
            let isThere = page.key(index).withView { whole.search($0).found }
            try demand(isThere != deletions[index], "a change that is not made")
        }
        extendLifetime(builder)
        guard !deletions.contains(true),
            try LeafChanges.append(
                page, length: page.bytes.count, deletions: deletions, of: changes.leaf, to: again)
        else { return }
        let copy = try LeafChanges(again.view)
        try demand(copy.leaf == changes.leaf, "changes of another leaf")
        try demand(copy.page.bytes.compare(page.bytes) == 0, "changes that storing changes")
    }

    private static func read(_ page: PageView, _ index: Int) throws {
        if page.level == 0, let entry = try? page.entry(index) {
            _ = XXH3.hash(entry.inline)
        } else if let child = try? page.child(index) {
            try demand(try page.childChunk(index) == child.chunk, "a child in two places")
        }
    }

    private static let operations = FuzzTarget("operations", largestInput: 4096) {
        try StoreSeeds.payloads(of: .operations)
    } run: { input in
        let buffer = ByteBuffer()
        buffer.append(input)
        let place = ChunkReference(offset: 1 << 40, length: UInt32(input.count))
        _ = try? OperationChunk.previous(in: buffer.view, at: place)
        guard let sections = try? OperationChunk.sections(of: buffer.view) else { return }
        for (tree, bytes) in sections {
            if tree == OperationChunk.treeSection { _ = try? TreeOperation.decode(bytes) }
            var decoder = OperationDecoder(bytes)
            var total: UInt64 = 0
            do throws(OperationDecoder.Failure<FuzzFinding>) {
                while try decoder.next({ (operation: LogOperation) throws(FuzzFinding) in
                    guard case .put(let key, let entry) = operation else { return }
                    if key.count > Format.maximumKeyLength { throw FuzzFinding("a key that is too long") }
                    total &+= XXH3.hash(entry.inline)
                }) {}
            } catch {
                if case .body(let finding) = error { throw finding }
            }
        }
    }

    private static let directory = FuzzTarget("directory", largestInput: 2048) {
        try StoreSeeds.payloads(of: .directory)
    } run: { input in
        let buffer = ByteBuffer()
        buffer.append(input)
        let place = ChunkReference(offset: 1 << 40, length: UInt32(input.count))
        guard let directory = try? RootDirectory(decoding: buffer.view, at: place) else { return }
        let copy = directory.encoded()
        let again = try RootDirectory(decoding: copy.view, at: place)
        let encodedAgain = again.encoded()
        try demand(encodedAgain.view.array == copy.view.array, "a directory that changes when it is written")
    }
}
