import Fleece
import Foundation
import Testing

/// The files in `Vectors`; their source is named there.
@Suite struct PublishedDataTests {
    private func vector(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Vectors")
        return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    @Test func personReadsAsItsJSON() throws {
        let person = try FleeceDocument(validating: bytes(vector("1person.fleece.txt")))
        let json = try FleeceDocument(json: vector("1person.json"))
        #expect(person.root == json.root)
        #expect(person.root.json() == json.root.json())
        #expect(person["name"].string == "Glenda Morse")
        #expect(person["latitude"].double == 40.941286)
        #expect(person["isActive"].bool == true)
        #expect(person[path: "friends[-1].name"].string == "Owens Everett")
        #expect(person["friends"].array?.map { $0["id"].int } == [0, 1, 2])
        #expect(person["about"].string?.hasSuffix("eiusmod elit.\r\n") == true)
        #expect(person.root.dictionary?.keys == person.root.dictionary?.keys.sorted())
    }

    /// Strings of two bytes are shared here: of three times `id`, four bytes each, one remains.
    @Test func personIsWrittenAsPublishedButForSharedKeys() throws {
        let published = try bytes(vector("1person.fleece.txt"))
        let body = try converted(vector("1person.json"))
        #expect(body.count == published.count - 2 * 4)
        let firstFriend = try #require(published.firstRange(of: Array("Magdalena Moore".utf8)))
        #expect(body[..<firstFriend.upperBound] == published[..<firstFriend.upperBound])
    }
}
