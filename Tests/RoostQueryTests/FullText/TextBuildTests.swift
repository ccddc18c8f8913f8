import Roost
import RoostIndex
import RoostSimulation
import Testing

@testable import RoostQuery

@Suite struct TextBuildTests {
    /// Words of many segments are merged in the end, and what that leaves unused is given back before the build is done.
    @Test func aBuildInLittleMemoryFindsAllAndLeavesLittleLying() throws {
        let fixture = try QueryFixture()
        let notes = try fixture.database.collection("notes")
        var settings = IndexSettings()
        settings.buildMemory = 1 << 20
        settings.quiet = 1e6
        IndexManager.of(fixture.database).configure(settings)
        var random = SeededGenerator(seed: 5)
        try fixture.database.write { batch in
            for number in 0..<8_000 {
                let words = (0..<12).map { _ in "w\(random.next())" } + ["every", "n\(number % 10)"]
                try batch.save(
                    json: #"{"text":"\#(words.joined(separator: " "))"}"#, id: "d\(number)", in: notes)
            }
        }
        try notes.createTextIndex("text", on: "text")
        let derived = try #require(try fixture.database.derivedStores().first)
        let size = try #require(derived.indexes.first).bytes
        #expect(size > 2 << 20, "too little to be compacted")
        #expect(derived.fileBytes < size * 3 / 2, "\(derived.fileBytes) bytes for \(size)")
        #expect(try notes.searchCount("text", "every") == 8_000)
        #expect(try notes.searchCount("text", "every n3") == 800)
    }
}
