import Roost

/// All revisions that ever came to be of one imaginary document, and the messages that tell of them.
struct RevisionUniverse {
    /// What one peer tells another: a revision and some of its history.
    struct Message {
        var history: [RevisionID]
        var flags: RevisionFlags
        var sequence: UInt64
    }

    private(set) var parents: [RevisionID: RevisionID?] = [:]
    private var flags: [RevisionID: RevisionFlags] = [:]

    /// `count` revisions, most of them edits of recent ones, so that branches grow long.
    init(count: Int, using generator: inout SeededGenerator) {
        var made: [RevisionID] = []
        while made.count < count {
            let base =
                generator.oneIn(12)
                ? nil : (generator.oneIn(3) ? made.randomElement(using: &generator) : made.last)
            let id = RevisionID(
                generation: (base?.generation ?? 0) + 1, digest: Self.digest(using: &generator))
            guard parents[id] == nil else { continue }
            parents[id] = .some(base)
            flags[id] = generator.oneIn(5) ? .deleted : generator.oneIn(4) ? .hasAttachments : []
            made.append(id)
        }
    }

    /// Sixteen bytes mostly, else a text.
    private static func digest(using generator: inout SeededGenerator) -> RevisionDigest {
        guard generator.oneIn(8) else {
            return RevisionDigest((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })!
        }
        let length = Int.random(in: 1...64, using: &generator)
        let letters = (0..<length).map { _ in UInt8.random(in: 0x61...0x67, using: &generator) }
        return RevisionDigest(text: letters.span)!
    }

    /// A message about each of `count` random revisions, with histories cut off anywhere.
    ///
    /// - Parameter forging: Whether one in ten gives a revision the history of another one of the same generation.
    func messages(
        _ count: Int, forging: Bool = true, using generator: inout SeededGenerator
    ) -> [Message] {
        let all = parents.keys.sorted()
        return (0..<count).map { _ in
            let id = all.randomElement(using: &generator)!
            var path = Array(sequence(first: id) { parents[$0] ?? nil })
            if forging, generator.oneIn(10),
                let other = all.filter({ $0.generation == id.generation }).randomElement(using: &generator)
            {
                path = [id] + sequence(first: other) { parents[$0] ?? nil }.dropFirst()
            }
            let known = generator.oneIn(2) ? path.count : Int.random(in: 1...path.count, using: &generator)
            // Peers store a revision where they like; here alike, so that whole trees can be compared.
            let place = id.generation * 1000 + UInt64(id.digest[0])
            return Message(
                history: Array(path.prefix(known)), flags: flags[id]!, sequence: place)
        }
    }
}

extension RevisionTree {
    init(_ messages: [RevisionUniverse.Message]) throws {
        self.init()
        for message in messages { try insert(message) }
    }

    @discardableResult
    mutating func insert(_ message: RevisionUniverse.Message) throws -> RevisionInsertion {
        try insert(
            history: message.history, flags: message.flags, sequence: message.sequence)
    }
}

extension RevisionModel {
    init(_ messages: [RevisionUniverse.Message]) {
        self.init()
        for message in messages { insert(history: message.history, flags: message.flags) }
    }
}
