import ChildProcesses
import Foundation
import Roost
import Testing

/// Processes that write one database by turns, and are killed at any moment.
@Suite struct DatabaseTurnsProcessTests {
    private let openings = TwoOpenings()

    private func start(_ process: Int) throws -> ChildProcess {
        try ChildProcess([openings.path, "\(process)"], of: "DatabaseWriter")
    }

    /// The last number that whole lines of `text` acknowledge.
    private func last(_ text: String) throws -> Int {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for line in lines { try #require(!line.hasPrefix("failed"), "\(line)") }
        return lines.last.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    }

    @Test func nothingAcknowledgedIsLostWhoeverIsKilled() throws {
        var generator = SeededGenerator(seed: 7)
        var children = try (0..<4).map { try start($0) }
        var acknowledged = [Int](repeating: 0, count: children.count)
        let database = try openings.open()
        let notes = try database.collection("own")
        for round in 0..<16 {
            // A turn among theirs.
            try notes.save(json: #"{"v":\#(round)}"#, id: "d\(round)")
            usleep(UInt32.random(in: 0...40_000, using: &generator))
            let victim = round % children.count
            #expect(children[victim].end(by: SIGKILL) == SIGKILL, "it has not ended by itself")
            acknowledged[victim] = max(acknowledged[victim], try last(children[victim].readToEnd()))
            children[victim] = try start(victim)
        }
        for (process, child) in children.enumerated() {
            let text = child.read()
            #expect(child.end(by: SIGKILL) == SIGKILL)
            acknowledged[process] = max(acknowledged[process], try last(text + child.readToEnd()))
        }
        #expect(acknowledged.allSatisfy { $0 > 0 })
        try database.refresh()
        #expect(try notes.count == 16)
        try verify(database, acknowledged)
        // What those have left who were killed is in nobody's way.
        try database.compact()
        try verify(database, acknowledged)
        try database.close()
        #expect(try openings.signs().isEmpty)
        try openings.openAlone().close()
    }

    private func verify(_ database: Database, _ acknowledged: [Int]) throws {
        let notes = try database.defaultCollection
        var total = 0
        for (process, count) in acknowledged.enumerated() {
            let documents = try notes.documents(prefix: "p\(process)-")
            #expect(documents.count >= count, "process \(process)")
            for document in documents {
                let blob = try #require(Blob(document["blob"]))
                #expect(try database.blobReader(blob)?.readAll() != nil, "\(document.id)")
            }
            total += documents.count
        }
        #expect(try notes.document("count")?["n"].int == total, "no commit missed another")
        #expect(try database.check().isClean)
    }
}
