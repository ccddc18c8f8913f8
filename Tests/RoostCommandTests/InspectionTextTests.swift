import Foundation
import Roost
import RoostStorage
import Testing

@testable import RoostCommand

/// `roost inspect` without options says in words what the page shows.
@Suite struct InspectionTextTests {
    @Test func textNamesEveryKindAndTree() throws {
        let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let database = try Database.open(path)
        let birds = try database.collection("birds")
        try database.write { batch in
            for number in 0..<300 { try batch.save(json: #"{"n": \#(number)}"#, id: "\(number)", in: birds) }
        }
        try database.compact()
        let inspection = try database.inspect()
        let lines = InspectionText(inspection).lines

        #expect(lines[0].hasPrefix("file "))
        #expect(lines[1].hasSuffix("not encrypted, 1 compaction"))
        for content in FileContent.allCases {
            let isListed = lines.contains { $0.hasPrefix(content.name + " ") }
            #expect(isListed == (inspection[content].bytes > 0), "\(content.name)")
        }
        for tree in inspection.trees {
            let entries = Count.text(tree.entries, "entry", "entries")
            let heading = "tree \"\(tree.name)\": \(entries), depth \(tree.levels.count), "
            #expect(lines.contains { $0.hasPrefix(heading) }, "\(tree.name)")
        }
        #expect(inspection.trees.contains { $0.entries == 300 })
        #expect(lines.allSatisfy { $0.last != " " })
    }
}
