import Foundation
import Testing

@testable import Roost

/// Whatever is damaged, a salvaged database agrees with itself, and holds nothing that was never committed.
@Suite struct SalvagePropertyTests {
    /// What every revision held that was ever committed, by document and revision.
    private typealias Committed = [String: Set<String>]

    private func make(_ place: TemporaryDatabase, seed: Int, compacts: Bool) throws -> Committed {
        var generator = SeededGenerator(seed: UInt64(seed))
        var committed: Committed = [:]
        try place.use { database in
            let notes = try database.collection("notes")
            for round in 0..<150 {
                let count = Int.random(in: 1...4, using: &generator)
                try database.write { batch in
                    for _ in 0..<count { try notes.change(batch, &generator) }
                }
                for document in try notes.snapshot().documents() {
                    for leaf in try notes.snapshot().openRevisions(of: document.id) {
                        committed["\(leaf.id) \(leaf.revision)", default: []].insert(leaf.json(with: []))
                    }
                }
                if compacts, round == 110 { try database.compact() }
            }
        }
        return committed
    }

    private enum Damage: CaseIterable { case flips, zeros, cut }

    private func damage(_ bytes: inout [UInt8], _ kind: Damage, _ generator: inout SeededGenerator) {
        switch kind {
        case .flips:
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 8192..<bytes.count, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
        case .zeros:
            let start = Int.random(in: 2..<bytes.count / 4096, using: &generator) * 4096
            let end = min(bytes.count, start + 4096 * Int.random(in: 1...4, using: &generator))
            for index in start..<end { bytes[index] = 0 }
        case .cut: bytes.removeLast(Int.random(in: 1..<bytes.count / 2, using: &generator))
        }
    }

    @Test(arguments: 1...30)
    func whatIsSalvagedAgreesWithItself(seed: Int) throws {
        let place = try TemporaryDatabase()
        let committed = try make(place, seed: seed, compacts: seed % 2 == 0)
        let file = URL(fileURLWithPath: place.path + "/data.roost")
        let whole = [UInt8](try Data(contentsOf: file))
        var generator = SeededGenerator(seed: UInt64(seed) &+ 1000)
        for (number, kind) in Damage.allCases.enumerated() {
            var bytes = whole
            damage(&bytes, kind, &generator)
            try Data(bytes).write(to: file)
            let rescued = place.directory + "/Rescued\(number).roost"
            do throws(DatabaseError) {
                try Database.salvage(place.path, to: rescued)
            } catch {
                #expect([.notADatabase, .damaged].contains(error.code), "\(error)")
                continue
            }
            try verify(rescued, committed)
        }
    }

    private func verify(_ path: String, _ committed: Committed) throws {
        let report = try Database.check(path)
        #expect(report.isClean, "\(report.findings) \(report.file.findings)")
        let database = try Database.open(path)
        // The collection may have lost its name.
        for collection in try database.collections() {
            let snapshot = try collection.snapshot()
            try snapshot.expectConsistency()
            for document in try snapshot.documents() {
                for leaf in try snapshot.openRevisions(of: document.id) {
                    let known = committed["\(leaf.id) \(leaf.revision)"] ?? []
                    #expect(known.contains(leaf.json(with: [])), "\(path): \(leaf) of \(known.count)")
                }
            }
        }
        try database.close()
    }
}
