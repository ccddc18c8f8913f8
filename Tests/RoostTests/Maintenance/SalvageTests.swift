import Foundation
import Testing

@testable import Roost
@testable import RoostStorage

/// A salvaged database says of itself what is true of it, not what was true of the damaged one.
@Suite struct SalvageTests {
    private let place: TemporaryDatabase
    private var file: String { place.path + "/data.roost" }

    init() throws { place = try TemporaryDatabase() }

    /// Documents in a compacted file, so that every node and body stands in it once.
    private func fill(_ count: Int) throws {
        try place.use { database in
            let notes = try database.collection("notes")
            for number in 0..<count {
                let text = String(repeating: "\(number % 10)", count: 300)
                _ = try notes.save(json: #"{"text":"\#(text)"}"#, id: "d\(number)")
            }
            _ = try notes.delete("d0")
            try database.compact()
        }
    }

    @Test func countsAreThoseOfTheDocumentsThatAreLeft() throws {
        try fill(400)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        // The bodies of a few documents and whatever stands between them.
        let middle = bytes.count / 2
        for offset in stride(from: middle, to: middle + 6000, by: 50) { bytes[offset] ^= 0x55 }
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let rescued = place.directory + "/Rescued.roost"
        let report = try Database.salvage(place.path, to: rescued)
        #expect(!report.isComplete)

        let database = try Database.open(rescued)
        let snapshot = try database.collection("notes").snapshot()
        let documents = try snapshot.documents(DocumentSelection())
        #expect(snapshot.count == documents.count)
        #expect(documents.count < 399 && documents.count > 300)
        let saved = try database.collection("notes").save(json: "{}", id: "next")
        #expect(saved.sequence > 401)
        try database.close()
    }

    @Test func nothingChangesInAWholeDatabase() throws {
        try fill(30)
        let rescued = place.directory + "/Rescued.roost"
        #expect(try Database.salvage(place.path, to: rescued).isComplete)
        let database = try Database.open(rescued)
        let snapshot = try database.collection("notes").snapshot()
        #expect(snapshot.count == 29)
        #expect(try snapshot.deletedCount == 1)
        #expect(snapshot.lastSequence == 31)
        try database.close()
    }

    @Test func aWriterSurvivesACountThatIsTooSmall() throws {
        try fill(5)
        let database = try place.open()
        let notes = try database.collection("notes")
        try database.write { batch in
            try batch.writer(notes).record.liveCount = 1
        }
        for number in 1..<5 { _ = try notes.delete("d\(number)") }
        #expect(try notes.count == 0)
        try database.close()
    }
}
