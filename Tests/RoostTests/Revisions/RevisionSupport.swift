import Roost
import Testing

/// The revision ID with this text.
func id(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> RevisionID {
    try #require(RevisionID(text), "\(text)", sourceLocation: sourceLocation)
}

/// The revision IDs with these texts, separated by spaces.
func ids(_ texts: String) throws -> [RevisionID] {
    try texts.split(separator: " ").map { try id(String($0)) }
}

/// A 16-byte digest that depends on the parent, the kind of edit and the content, as a real one does.
func digest(parent: RevisionID?, deleted: Bool, content: UInt64) -> RevisionDigest {
    var bytes: [UInt8] = []
    parent?.append(to: &bytes)
    bytes.append(deleted ? 1 : 0)
    var seed = bytes.reduce(content &+ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    var digest: [UInt8] = []
    for _ in 0..<2 {
        var generator = SeededGenerator(seed: seed)
        seed = generator.next()
        for shift in 0..<8 { digest.append(UInt8(truncatingIfNeeded: seed >> UInt64(shift * 8))) }
    }
    return RevisionDigest(digest)!
}

extension RevisionTree {
    /// A tree made of histories, each written newest first and separated by spaces; `!` after the first ID
    /// marks a tombstone.
    init(histories: String...) throws {
        self.init()
        for history in histories {
            let deleted = history.split(separator: " ").first?.hasSuffix("!") ?? false
            let plain = history.split(separator: "!").joined()
            try insert(
                history: try ids(plain), flags: deleted ? .deleted : [], sequence: 1)
        }
    }

    /// The stored form.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        encode(to: &bytes)
        return bytes
    }

    /// The tree without what peers know differently: sequences, bodies, and the flags of inner revisions.
    var shape: RevisionModel {
        var model = RevisionModel(self)
        for revision in self where !revision.isLeaf { model.flags[revision.id] = [] }
        return model
    }

    /// Fails unless order, links and leaf marks fit together as the type's documentation says.
    func expectInvariants(sourceLocation: SourceLocation = #_sourceLocation) {
        let parents = map { self.parents(of: $0.id) }
        for (left, right) in zip(self, dropFirst()) {
            #expect(left.id < right.id, sourceLocation: sourceLocation)
        }
        for (revision, parent) in zip(self, parents) {
            #expect(parent.first == self.parent(of: revision.id), sourceLocation: sourceLocation)
            #expect(parent == Set(parent).sorted(by: >), sourceLocation: sourceLocation)
            for parent in parent {
                #expect(parent.generation + 1 == revision.id.generation, sourceLocation: sourceLocation)
                #expect(self[parent] != nil, sourceLocation: sourceLocation)
            }
        }
        let inner = Set(parents.joined())
        for revision in self {
            #expect(revision.isLeaf == !inner.contains(revision.id), sourceLocation: sourceLocation)
        }
    }
}

/// The code of the error that `body` throws, `nil` when it throws none.
func code(_ body: () throws -> Void) -> DatabaseError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? DatabaseError)?.code
    }
}
