import RoostBytes
import RoostFile

@testable import Roost

/// Revision IDs, revision trees, and what stands in the trees of a database.
extension FuzzTarget {
    static let documents = [revisionID, revisionTree, entries, keyWrap]

    private static let revisionID = FuzzTarget("revision-id", largestInput: 256) {
        ["1-967a00dff5e02add41819138abb3284d", "2-aa", "9223372036854775807-00ff"].map { Array($0.utf8) }
    } run: { input in
        let text = String(decoding: input, as: UTF8.self)
        _ = (try? DocumentID(utf8: input), try? DocumentID(text), try? CollectionName(text, scope: text))
        if let id = RevisionID(text) {
            try demand(RevisionID(id.description) == id, "a revision ID that its text changes")
            var bytes: [UInt8] = []
            id.append(to: &bytes)
            try demand(try RevisionID(bytes.span) == id, "a revision ID that its bytes change")
        }
        if let id = try? RevisionID(input.span) {
            var bytes: [UInt8] = []
            id.append(to: &bytes)
            try demand(bytes == input, "a revision ID with two forms")
        }
    }

    private static let revisionTree = FuzzTarget("revision-tree", largestInput: 1024) {
        var tree = RevisionTree()
        let ids = try ["3-cc", "2-bb", "1-aa"].map { try RevisionID(validating: $0) }
        try tree.insert(history: ids, sequence: 1)
        let branch = [try RevisionID(validating: "2-dd"), ids[2]]
        try tree.insert(history: branch, flags: .deleted, sequence: 2)
        let edit = try RevisionID(validating: "4-967a00dff5e02add41819138abb3284d")
        try tree.edit(ids[0], as: edit, sequence: 3)
        var bytes: [UInt8] = []
        tree.encode(to: &bytes)
        return [bytes]
    } run: { input in
        guard var tree = try? RevisionTree(input.span) else { return }
        var bytes: [UInt8] = []
        tree.encode(to: &bytes)
        try demand(bytes == input, "a revision tree with two forms")
        try change(&tree)
    }

    private static func change(_ tree: inout RevisionTree) throws {
        guard let winner = tree.winner?.id else { return }
        let history = tree.history(of: winner)
        try demand(history.first == winner, "a history that does not begin with its revision")
        _ = tree.difference(from: history + [winner])
        var copy = tree
        try copy.merge(tree)
        try demand(copy == tree, "a tree that changes when it is merged with itself")
        _ = copy.stem(to: 2)
        _ = copy.purge([winner])
        var bytes: [UInt8] = []
        copy.encode(to: &bytes)
        try demand(try RevisionTree(bytes.span) == copy, "a tree that cannot be read after a change")
    }

    private static let entries = FuzzTarget("entries", largestInput: 512) {
        let winner = try RevisionID(validating: "2-967a00dff5e02add41819138abb3284d")
        var document: [UInt8] = []
        StoredDocument.encodeHead([.single], sequence: 5, expiration: 7, winner: winner, to: &document)
        return [
            document, CollectionRecord(number: 3, .system).encoded,
            DatabaseRecord(.system).encoded, Catalog.collection(.default).bytes,
        ]
    } run: { input in
        let buffer = ByteBuffer()
        buffer.append(input)
        if let entry = try? StoredDocument(buffer.view) {
            _ = try? RevisionTree(entry.tree.array.span)
        }
        if let change = try? StoredChange(buffer.view) { _ = try? DocumentID(utf8: change.id.array) }
        if let record = try? CollectionRecord(input) {
            try demand(try CollectionRecord(record.encoded) == record, "a collection's record that changes")
        }
        if let record = try? DatabaseRecord(input) { _ = try DatabaseRecord(record.encoded) }
        _ = try? Catalog.name(.init(input))
        _ = ExtrasKey.readExpiration(buffer.view)
    }

    private static let keyWrap = FuzzTarget("key-wrap", largestInput: 256) {
        [KeyRing(try EncryptionKey(bytes: secret)).create(fileID: secret, after: nil).parameters]
    } run: { input in
        // A passphrase makes the reader work for as many rounds as the file says, which is bounded and slow.
        guard let wrap = KeyWrap(input) else { return }
        try demand(wrap.rounds <= KeyWrap.maximumRounds, "rounds without bound")
        guard wrap.kind == .raw else { return }
        let ring = KeyRing(try EncryptionKey(bytes: secret))
        _ = ring.open(parameters: input, fileID: Array(secret.prefix(16)))
    }

    private static let secret = [UInt8](repeating: 9, count: 32)
}
