import Foundation
import RoostBlobs
import RoostCrypto
import RoostFile
import RoostSimulation
import Testing

/// The bytes that FileFormat.md shows of an encrypted blob are such a blob.
@Suite struct WorkedExampleTests {
    private let content = Array("Swifts roost in gables.\n".utf8)

    /// What the document shows: the file's name and its bytes.
    private func example() throws -> (name: String, bytes: [UInt8]) {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: repository.appendingPathComponent("FileFormat.md"), encoding: .utf8)
        let start = try #require(text.range(of: "<!-- blob -->\n```\n"))
        let end = try #require(text.range(of: "```\n<!-- /blob -->"))
        let lines = text[start.upperBound..<end.lowerBound].split(separator: "\n")
        var bytes: [UInt8] = []
        for line in lines.dropFirst() {
            #expect(Int(line.prefix(4), radix: 16) == bytes.count)
            bytes += line.dropFirst(6).prefix(47).split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
        return (String(try #require(lines.first)), bytes)
    }

    @Test func theDocumentShowsAnEncryptedBlob() throws {
        let test = try TestStore(.testSealed)
        // Makes the directory; another blob, so that nothing of the example comes from here.
        try test.store.put([1])
        let (name, bytes) = try example()
        try test.disk.install(bytes, at: test.path(name))
        #expect(try test.store.get(blobDigest(content)) == content)
        #expect(try test.store.verify().damaged.isEmpty)
    }

    @Test func newBlobsHaveItsNameAndSize() throws {
        let test = try TestStore(.testSealed)
        try test.store.put(content)
        let (name, bytes) = try example()
        #expect(try test.names() == [name])
        #expect(test.contents(name).count == bytes.count)
        #expect(Array(test.contents(name)[..<16]) == Array(bytes[..<16]))
    }
}
