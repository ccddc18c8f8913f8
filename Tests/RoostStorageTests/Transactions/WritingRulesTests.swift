import RoostBytes
import RoostStorage
import Testing

/// What writing refuses, and that nothing is left of it.
@Suite struct WritingRulesTests {
    let directory: TemporaryDirectory
    let store: Store
    let tree: Tree

    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory.file("store"))
        tree = try store.tree("tree")
    }

    @Test func aWriteWithinAWriteIsRefused() throws {
        try store.write { outer in
            try outer.put("outer", [1], in: tree)
            #expect(code { try store.write { try $0.put("inner", [2], in: tree) } } == .nestedWrite)
            #expect(code { _ = try store.beginWriting() } == .nestedWrite)
            #expect(code { _ = try store.tree("another") } == .nestedWrite)
            #expect(code { try store.compact() } == .nestedWrite)
            #expect(code { try store.close() } == .nestedWrite)
        }
        let view = try store.snapshot()[tree]
        #expect(try view.value("outer") == [1])
        #expect(try view.value("inner") == nil)
    }

    @Test func aWriteAfterOneThatThrewIsNotNested() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try store.write { _ in throw Refusal() } }
        try store.write { try $0.put("key", [1], in: tree) }
        #expect(try store.snapshot()[tree].value("key") == [1])
    }

    /// Another store's transaction is none of this one's.
    @Test func aWriteToAnotherStoreIsNotNested() throws {
        let other = try Store.open(directory.file("other"))
        try store.write { outer in
            try outer.put("key", [1], in: tree)
            try other.write { _ = try $0.tree("tree") }
        }
        #expect(other.snapshot().treeNames == ["tree"])
    }

    /// The pages of so much fresh memory are never touched, unless the value is copied.
    @Test func aValueBeyondTheLimitIsRefusedWhereverItEnters() throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: (1 << 30) + 1, alignment: 4096)
        defer { unsafe memory.deallocate() }
        let value = unsafe ByteView(UnsafeRawBufferPointer(memory))
        try store.write { transaction in
            #expect(code { _ = try transaction.append(value: value) } == .limitExceeded)
            Array("key".utf8).withView { key in
                #expect(code { try transaction.put(key, value, in: tree) } == .limitExceeded)
            }
            try transaction.put("small", [1], in: tree)
        }
        #expect(try store.snapshot()[tree].value("small") == [1])
        #expect(try store.check().isClean)
    }
}
