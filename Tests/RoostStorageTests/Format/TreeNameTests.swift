import Testing

@testable import RoostBytes
@testable import RoostStorage

/// A file may claim a tree without a name, which nobody can open. It is damage, not a tree to be listed.
@Suite struct TreeNameTests {
    private let place = ChunkReference(offset: 8192, length: 64)

    @Test func aRootDirectoryNamesEveryTree() throws {
        func names(_ name: String) throws -> [String] {
            let tree = RootDirectory.Tree(id: 1, name: name, reduction: "", root: .empty)
            let buffer = RootDirectory(nextTreeID: 2, trees: [tree]).encoded()
            return try RootDirectory(decoding: buffer.view, at: place).trees.map { $0.name }
        }
        #expect(try names("a") == ["a"])
        #expect(throws: MalformedBytes.self) { try names("") }
    }

    @Test func theLogNamesEveryTree() throws {
        func count(_ name: String) throws -> Int {
            let buffer = ByteBuffer()
            TreeOperation.create(id: 1, name: name, reduction: "").encode(to: buffer)
            return try TreeOperation.decode(buffer.view).count
        }
        #expect(try count("a") == 1)
        #expect(throws: MalformedBytes.self) { try count("") }
    }
}
