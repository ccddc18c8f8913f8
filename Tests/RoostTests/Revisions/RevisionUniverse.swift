import Roost

/// All revisions that ever came to be of one imaginary document, and the messages that tell of them.
struct RevisionUniverse {
    /// What one peer tells another: a revision and some of its history.
    struct Message {
        var history: [RevisionID]
        var flags: RevisionFlags
        var sequence: UInt64
        var body: BodyLocation?
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
            let length = generator.oneIn(8) ? Int.random(in: 1...32, using: &generator) : 16
            let bytes = (0..<length).map { _ in
                UInt8.random(in: 0...(length < 3 ? 3 : 255), using: &generator)
            }
            let id = RevisionID(generation: (base?.generation ?? 0) + 1, digest: RevisionDigest(bytes)!)
            guard parents[id] == nil else { continue }
            parents[id] = .some(base)
            flags[id] = generator.oneIn(5) ? .deleted : generator.oneIn(4) ? .hasAttachments : []
            made.append(id)
        }
    }

    /// A message about each of `count` random revisions, with histories cut off anywhere.
    func messages(_ count: Int, using generator: inout SeededGenerator) -> [Message] {
        let all = parents.keys.sorted()
        return (0..<count).map { _ in
            let id = all.randomElement(using: &generator)!
            let path = Array(sequence(first: id) { parents[$0] ?? nil })
            let known = generator.oneIn(2) ? path.count : Int.random(in: 1...path.count, using: &generator)
            // Peers store a revision where they like; here alike, so that whole trees can be compared.
            let place = id.generation * 1000 + UInt64(id.digest[0])
            return Message(
                history: Array(path.prefix(known)), flags: flags[id]!, sequence: place,
                body: place.isMultiple(of: 3) ? nil : BodyLocation(offset: place * 4096, length: place))
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
            history: message.history, flags: message.flags, sequence: message.sequence, body: message.body)
    }
}

extension RevisionModel {
    init(_ messages: [RevisionUniverse.Message]) {
        self.init()
        for message in messages { insert(history: message.history, flags: message.flags) }
    }
}
