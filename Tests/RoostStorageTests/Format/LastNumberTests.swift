import Testing

@testable import RoostBytes
@testable import RoostStorage

/// Trees and commits are numbered, and a file may claim any numbers. Those out of range are damage; after the last one nothing is
/// written that could not be read again.
@Suite struct LastNumberTests {
    private let place = ChunkReference(offset: 8192, length: 64)

    @Test(arguments: [0, UInt64(Int64.max) + 1, .max])
    func aRootDirectoryHasANumberForTheNextTree(_ number: UInt64) throws {
        func next(_ number: UInt64) throws -> UInt64 {
            let buffer = RootDirectory(nextTreeID: number, trees: []).encoded()
            return try RootDirectory(decoding: buffer.view, at: place).nextTreeID
        }
        #expect(try next(1) == 1)
        #expect(try next(UInt64(Int64.max)) == UInt64(Int64.max))
        #expect(throws: MalformedBytes.self) { try next(number) }
    }

    @Test(arguments: [0, UInt64(Int64.max), .max])
    func theLogMakesNoTreeWhoseNumberNoDirectoryCanHave(_ number: UInt64) throws {
        func made(_ id: UInt64) throws -> [TreeOperation] {
            let buffer = ByteBuffer()
            TreeOperation.create(id: id, name: "a", reduction: "").encode(to: buffer)
            return try TreeOperation.decode(buffer.view)
        }
        #expect(try made(1).count == 1)
        #expect(try made(UInt64(Int64.max) - 1).count == 1)
        #expect(throws: MalformedBytes.self) { try made(number) }
    }

    @Test func noTreeIsMadeAfterTheLast() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"))
        let state = store.state
        let base = StoreState(
            file: state.file, record: state.record, trees: TreeTable(nextID: Format.maximumTreeID),
            logBytes: 0)
        let output = CommitBuffer(file: state.file, start: state.record.end, compression: 0, pool: nil)
        let trees = TreeSet(
            base: base, reductions: ReductionRegistry(),
            context: TreeEditor.Context(owner: 1, file: state.file, output: output, nodeSize: 4096))
        _ = try trees.create("last", reduction: "")
        let refusal = code { _ = try trees.create("one more", reduction: "") }
        #expect(refusal == .limitExceeded)
        #expect(trees.versions.sortedNames == ["last"])
    }

    @Test func noCommitIsMadeAfterTheLast() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        do {
            let store = try Store.open(path)
            try store.write { transaction in
                try transaction.put("key", [1], in: try transaction.tree("tree"))
            }
            try store.close()
        }
        try renumberLastCommit(of: FileBytes(path: path), CommitRecord.largestNumber)

        let store = try Store.open(path)
        let refusal = code {
            try store.write { transaction in
                try transaction.put("another", [2], in: try transaction.tree("tree"))
            }
        }
        #expect(refusal == .limitExceeded)
        #expect(code { try store.compact() } == .limitExceeded)
        try store.close()

        #expect(try Store.check(path).isClean)
        let again = try Store.open(path)
        let tree = try #require(again.snapshot().tree("tree"))
        #expect(again.state.record.number == CommitRecord.largestNumber)
        #expect(try again.snapshot()[tree, "key"] == [1])
        #expect(try again.snapshot()[tree, "another"] == nil)
    }

    /// Gives the newest commit another number, as if so many had been made.
    private func renumberLastCommit(of file: FileBytes, _ number: UInt64) throws {
        var record = try #require(try file.commits().last)
        record.number = number
        let encoded = ByteBuffer()
        record.encode(to: encoded, codec: try file.open().codec)
        var bytes = try file.read()
        bytes.replaceSubrange(Int(record.offset)..<Int(record.end), with: encoded.view.array)
        try file.write(bytes)
    }
}
