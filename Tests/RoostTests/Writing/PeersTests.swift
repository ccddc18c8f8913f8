import Roost
import Testing

/// A database on another device.
private struct Device {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init(limit: Int) throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
        try notes.database.write { try $0.setRevisionLimit(limit, in: notes) }
    }

    /// Does one of the things that users do.
    func work(_ generator: inout SeededGenerator) throws {
        let id = "d\(Int.random(in: 0..<3, using: &generator))"
        let json = #"{"v":\#(Int.random(in: 0..<3, using: &generator))}"#
        let leaf = try notes.snapshot().openRevisions(of: id).randomElement(using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try notes.delete(id)
        case 1: if let leaf { try notes.delete(leaf) }
        case 2: try notes.resolve(id)
        case 3: if let leaf { try notes.save(json: json, id: id, expecting: .revision(leaf.revision)) }
        default: try notes.save(json: json, id: id)
        }
    }

    /// Fetches what `other` has and this one lacks, as a replicator does; some of it gets lost on the way.
    func pull(from other: Device, losing: Bool, _ generator: inout SeededGenerator) throws {
        let theirs = try other.notes.snapshot()
        let ours = try notes.snapshot()
        for change in try theirs.changes().shuffled(using: &generator) {
            let leaves = try theirs.openRevisions(of: change.id)
            let missing = try ours.missingRevisions(of: change.id, from: leaves.map(\.revision)).missing
            for leaf in leaves where missing.contains(leaf.revision) && !(losing && generator.oneIn(3)) {
                let history = try theirs.history(of: leaf.id, revision: leaf.revision)
                try notes.database.write { batch in try batch.insert(leaf, history: history, in: notes) }
            }
        }
    }

    /// All that peers must agree on: the leaves, of which the winner is the first, and unless they stem, history too.
    func content(withHistory: Bool) throws -> [String] {
        try notes.snapshot().documents(selection).flatMap { document in
            try notes.snapshot().openRevisions(of: document.id).map { "\($0)" }
                + (withHistory ? notes.snapshot().history(of: document.id).map { "\($0)" } : [])
        }
    }

    private var selection: DocumentSelection {
        var selection = DocumentSelection()
        selection.includesDeleted = true
        return selection
    }
}

@Suite struct PeersTests {
    /// Has three devices work for a while, then lets everybody hear from everybody.
    private func run(_ seed: UInt64, limit: Int) throws -> [Device] {
        var generator = SeededGenerator(seed: seed)
        let devices = try (0..<3).map { _ in try Device(limit: limit) }
        for _ in 0..<60 {
            let one = Int.random(in: 0..<3, using: &generator)
            let other = (one + Int.random(in: 1...2, using: &generator)) % 3
            if generator.oneIn(3) {
                try devices[one].pull(from: devices[other], losing: true, &generator)
            } else {
                try devices[one].work(&generator)
            }
            try devices[one].notes.snapshot().expectConsistency()
        }
        for _ in 0..<2 {
            for (one, other) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)].shuffled(using: &generator) {
                try devices[one].pull(from: devices[other], losing: false, &generator)
            }
        }
        return devices
    }

    private func expectAgreement(_ devices: [Device], withHistory: Bool) throws {
        let content = try devices[0].content(withHistory: withHistory)
        #expect(!content.isEmpty)
        #expect(try devices[1].content(withHistory: withHistory) == content)
        #expect(try devices[2].content(withHistory: withHistory) == content)
        for device in devices { try device.notes.snapshot().expectConsistency() }
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func threeDevicesConverge(_ seed: UInt64) throws {
        try expectAgreement(try run(seed, limit: 1000), withHistory: true)
    }

    @Test(arguments: 0..<16 as Range<UInt64>)
    func threeDevicesConvergeThoughTheyStem(_ seed: UInt64) throws {
        let devices = try run(seed, limit: 3)
        try expectAgreement(devices, withHistory: false)
        for document in try devices[0].notes.documents() {
            let leaves = try devices[0].notes.snapshot().openRevisions(of: document.id)
            for leaf in leaves {
                let history = try devices[0].notes.snapshot().history(of: leaf.id, revision: leaf.revision)
                #expect(history.count <= 3 || leaves.count > 1, "only what another leaf keeps is longer")
            }
        }
    }
}

extension CollectionSnapshot {
    /// Fails unless the orders, the counts and the leaves agree with each other.
    func expectConsistency(sourceLocation: SourceLocation = #_sourceLocation) throws {
        var selection = DocumentSelection()
        selection.includesDeleted = true
        let documents = try documents(selection)
        let changes = try changes()
        #expect(changes.count == documents.count, sourceLocation: sourceLocation)
        #expect(
            Set(changes) == Set(try documents.map { try change(of: $0.id) }), sourceLocation: sourceLocation)
        #expect(changes.map(\.sequence) == changes.map(\.sequence).sorted(), sourceLocation: sourceLocation)
        #expect((changes.last?.sequence ?? 0) <= lastSequence, sourceLocation: sourceLocation)
        #expect(count == UInt64(documents.count { !$0.isDeleted }), sourceLocation: sourceLocation)
        for document in documents {
            let leaves = try openRevisions(of: document.id)
            #expect(leaves.first == document, sourceLocation: sourceLocation)
            #expect(
                document.isConflicted == (leaves.count { !$0.isDeleted } > 1), sourceLocation: sourceLocation)
            #expect(
                try revisions(of: document.id).filter(\.isLeaf).count == leaves.count,
                sourceLocation: sourceLocation)
        }
    }

    private func change(of id: String) throws -> DocumentChange? {
        var selection = DocumentSelection(from: id, to: id)
        selection.includesDeleted = true
        return try cursor(selection).nextChange()
    }
}
