import RoostFile
import Testing

@testable import RoostStorage

/// Random histories as a document database makes them, beside a model: values that two trees share, values that one
/// owns, small ones in leaves, keys that grow, ranges deleted, trees made and dropped.
struct DocumentHistory {
    /// What the trees should hold: by ID, by sequence number, and the plain trees.
    struct Content: Equatable {
        var documents: [Key: Document] = [:]
        var sequence: [Key: Key] = [:]
        var plain: [String: Model] = [:]
    }

    struct Document: Equatable {
        var body: [UInt8]
        var sequence: Key
    }

    private(set) var content = Content()
    private var generator: SplitMix64
    private var next: UInt64 = 1
    private var appended: UInt64 = 0

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    static func options(seed: UInt64) -> StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.pendingLimit = seed % 3 == 0 ? 0 : 1 << 20
        options.logLimit = seed % 4 == 0 ? 0 : 1 << 22
        options.cacheSize = 1 << 18
        options.compression = seed % 5 == 0 ? 1 : 0
        options.inlineLimit = [0, 16, 128][Int(seed % 3)]
        options.reductions = [.sum]
        options.durability = .relaxed(interval: 60)
        options.compactsAutomatically = false
        return options
    }

    /// Makes one transaction of random changes.
    mutating func commit(to store: Store, scale: Int = 40) throws {
        let before = self
        do {
            try store.write { transaction in
                for _ in 0..<Int.random(in: 1...3, using: &generator) { try change(transaction, scale) }
            }
        } catch {
            self = before
            throw error
        }
    }

    /// Makes one random change.
    mutating func change(_ transaction: StoreTransaction, _ scale: Int = 5) throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: try putDocuments(transaction, Int.random(in: 1...scale, using: &generator))
        case 4: try renumberDocuments(transaction)
        case 5: try deleteDocuments(transaction)
        case 6: try append(transaction, scale * 4)
        case 7: try changePlain(transaction, scale)
        case 8: try deleteRange(transaction)
        default: try dropOrMake(transaction)
        }
    }

    private mutating func body() -> [UInt8] {
        let length = Int.random(in: 0..<10, using: &generator) == 0 ? 6_000 : 400
        let byte = UInt8.random(in: 0...255, using: &generator)
        return (0..<Int.random(in: 0...length, using: &generator)).map {
            $0 % 7 == 0 ? byte : UInt8(truncatingIfNeeded: $0)
        }
    }

    private mutating func id() -> Key { Key("doc-\(Int.random(in: 0..<600, using: &generator))") }

    /// Goes on from `content`.
    mutating func replaceContent(_ content: Content) { self.content = content }

    // MARK: Documents: the by-ID tree owns the values, the by-sequence tree borrows them

    private mutating func putDocuments(_ transaction: StoreTransaction, _ count: Int) throws {
        for _ in 0..<count {
            let (id, body) = (id(), body())
            let value = try body.withView { try transaction.append(value: $0) }
            try put(transaction, id, body, value)
        }
    }

    /// Gives documents new sequence numbers and leaves their values where they are.
    private mutating func renumberDocuments(_ transaction: StoreTransaction) throws {
        for _ in 0..<10 {
            let id = id()
            guard let document = content.documents[id] else { continue }
            let ids = try transaction.tree("ids", reduction: .sum)
            let value = try id.bytes.withView { try transaction[ids].withEntry($0) { _, value in value } }
            try put(transaction, id, document.body, try #require(value ?? nil))
        }
    }

    private mutating func put(
        _ transaction: StoreTransaction, _ id: Key, _ body: [UInt8], _ value: ValueReference
    ) throws {
        // The by-sequence tree is the older one, so that borrowers come before owners in every pass over the trees.
        let bySequence = try transaction.tree("sequence")
        let byID = try transaction.tree("ids", reduction: .sum)
        if let old = content.documents[id] {
            try transaction.delete(old.sequence, in: bySequence)
            content.sequence[old.sequence] = nil
        }
        let sequence = Key(next)
        next += 1
        try sequence.bytes.withView { key in
            try id.bytes.withView { id in
                try transaction.put(key, inline: id, value: value, owns: false, in: bySequence)
                try transaction.put(id, inline: key, value: value, owns: true, in: byID)
            }
        }
        content.documents[id] = Document(body: body, sequence: sequence)
        content.sequence[sequence] = id
    }

    private mutating func deleteDocuments(_ transaction: StoreTransaction) throws {
        let bySequence = try transaction.tree("sequence")
        let byID = try transaction.tree("ids", reduction: .sum)
        for _ in 0..<20 {
            let id = id()
            guard let document = content.documents.removeValue(forKey: id) else { continue }
            content.sequence[document.sequence] = nil
            try transaction.delete(id, in: byID)
            try transaction.delete(document.sequence, in: bySequence)
        }
    }

    // MARK: Plain trees

    private mutating func plainTree(_ transaction: StoreTransaction) throws -> (Tree, String) {
        let name = ["alpha", "beta", "gamma"].randomElement(using: &generator)!
        if content.plain[name] == nil { content.plain[name] = Model() }
        return (try transaction.tree(name), name)
    }

    private mutating func append(_ transaction: StoreTransaction, _ count: Int) throws {
        let (tree, name) = try plainTree(transaction)
        for _ in 0..<count {
            appended += UInt64.random(in: 1...3, using: &generator)
            let body = body()
            try transaction.put(Key(1 << 40 + appended), body, in: tree)
            content.plain[name]?.put(Key(1 << 40 + appended), body)
        }
    }

    private mutating func changePlain(_ transaction: StoreTransaction, _ count: Int) throws {
        let (tree, name) = try plainTree(transaction)
        for _ in 0..<count {
            let key = Key(UInt64.random(in: 0..<500, using: &generator))
            if Bool.random(using: &generator) {
                let body = body()
                try transaction.put(key, body, in: tree)
                content.plain[name]?.put(key, body)
            } else {
                try transaction.delete(key, in: tree)
                content.plain[name]?.delete(key)
            }
        }
    }

    private mutating func deleteRange(_ transaction: StoreTransaction) throws {
        let (tree, name) = try plainTree(transaction)
        let start = UInt64.random(in: 0..<500, using: &generator)
        var range = KeyRange(lower: Key(start), upper: Key(start + 100))
        if Int.random(in: 0..<6, using: &generator) == 0 {
            range = KeyRange(lower: Key(1 << 40 + appended / 2))
        }
        try transaction.delete(range, in: tree)
        content.plain[name]?.delete(range)
    }

    private mutating func dropOrMake(_ transaction: StoreTransaction) throws {
        let (tree, name) = try plainTree(transaction)
        guard Bool.random(using: &generator) else { return }
        try transaction.drop(tree)
        content.plain[name] = nil
    }
}

extension DocumentHistory.Content {
    /// Compares everything in `snapshot` with the model, and verifies the form of its trees.
    func check(_ snapshot: Snapshot, _ comment: Comment? = nil) throws {
        try checkForm(snapshot, comment)
        try checkDocuments(snapshot, comment)
        var names = Set(plain.keys)
        if snapshot.tree("ids") != nil { names.formUnion(["ids", "sequence"]) }
        #expect(Set(snapshot.treeNames) == names, comment)
        for (name, model) in plain {
            let view = try snapshot[try #require(snapshot.tree(name), comment)]
            var found = Model()
            try view.forEach {
                found.put($0, $1); return true
            }
            #expect(found == model, comment)
            #expect(view.count == UInt64(model.entries.count), comment)
        }
    }

    private func checkDocuments(_ snapshot: Snapshot, _ comment: Comment?) throws {
        guard let ids = snapshot.tree("ids"), let bySequence = snapshot.tree("sequence") else {
            #expect(documents.isEmpty, comment)
            return
        }
        let byID = try snapshot[ids].cursor()
        var found: [Key: DocumentHistory.Document] = [:]
        while try byID.next() {
            found[byID.key] = DocumentHistory.Document(
                body: try byID.value(), sequence: Key(byID.inline.array))
        }
        #expect(found == documents, comment)
        let cursor = try snapshot[bySequence].cursor()
        var sequence: [Key: Key] = [:]
        while try cursor.next() {
            let id = Key(cursor.inline.array)
            sequence[cursor.key] = id
            #expect(try cursor.value() == documents[id]?.body, comment)
        }
        #expect(sequence == self.sequence, comment)
        let length = documents.keys.reduce(0) { $0 + $1.bytes.count }
        #expect(Reduction.sumValue(try snapshot[ids].reduction() ?? []) == length, comment)
    }

    private func checkForm(_ snapshot: Snapshot, _ comment: Comment?) throws {
        let findings = FindingList(limit: 10)
        var owned = Set<UInt64>()
        var borrowed = Set<UInt64>()
        for version in snapshot.state.trees {
            let reduction = version.reduction.isEmpty ? nil : Reduction.sum
            let walk = TreeWalk(
                file: snapshot.state.file, tree: version.name, reduction: reduction, findings: findings,
                readsValues: false
            ) { chunk, use, kind in
                guard kind == .value else { return }
                if use == .borrowed { borrowed.insert(chunk.offset) } else { owned.insert(chunk.offset) }
            }
            try walk.walk(version.root)
        }
        #expect(findings.findings == [], comment)
        #expect(borrowed.isSubset(of: owned), comment)
    }
}
