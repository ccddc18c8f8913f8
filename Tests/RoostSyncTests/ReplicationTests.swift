import Roost
import Synchronization
import Testing

@testable import RoostSync

/// Two databases in one process: what is carried, what is not, and what is remembered of it.
@Suite struct ReplicationTests {
    private let peers: Peers
    private let here: Database
    private let there: Database
    private let notes: DocumentCollection
    private let others: DocumentCollection

    init() throws {
        peers = try Peers()
        here = try peers.open("here")
        there = try peers.open("there")
        notes = try here.defaultCollection
        others = try there.defaultCollection
    }

    private func replicate(_ options: ReplicationOptions) async throws -> ReplicationStatus {
        try await notes.replicate(with: others, options).finished
    }

    @Test func everythingGoesWithItsHistory() async throws {
        try notes.put("edited", #"{"n":1}"#)
        try notes.put("edited", #"{"n":2}"#)
        try notes.put("deleted", "{}")
        try notes.remove("deleted")
        try notes.insert("conflicted", ["2-aa", "1-aa"], json: #"{"by":"a"}"#)
        try notes.insert("conflicted", ["2-bb", "1-aa"], json: #"{"by":"b"}"#)
        try notes.insert("conflicted", ["3-cc", "2-cc", "1-aa"], deleted: true)
        try notes.put("_design/x", #"{"views":{}}"#)
        try notes.putLocal("stays", "{}")
        try others.put("theirs", #"{"from":"there"}"#)
        let status = try await replicate(ReplicationOptions(.both))
        #expect(try notes.replicated() == others.replicated())
        #expect(try others.replicated().count == 7)
        #expect(status.pushed.written == 6)
        #expect(status.pulled.written == 1)
        #expect(status.problems.isEmpty)
        #expect(try others.localDocument("stays") == nil, "local documents are not replicated")
    }

    @Test func theNextTimeGoesOnWhereTheLastOneEnded() async throws {
        for number in 0..<25 { try notes.put("n\(number)", "{}") }
        let options = ReplicationOptions(.push) { $0.batchSize = 10 }
        #expect(try await replicate(options).pushed.checked == 25)
        #expect(try await replicate(options).pushed.checked == 0)
        try notes.put("n3", #"{"more":true}"#)
        let status = try await replicate(options)
        #expect(status.pushed.checked == 1)
        #expect(status.pushed.written == 1)
        #expect(try notes.replicated() == others.replicated())
    }

    @Test func aTargetThatWasMadeAnewGetsEverything() async throws {
        try notes.put("a", "{}")
        _ = try await replicate(ReplicationOptions(.push))
        let anew = try peers.open("anew").defaultCollection
        #expect(try await notes.replicate(with: anew, ReplicationOptions(.push)).finished.pushed.written == 1)
    }

    @Test func aSourceThatWasMadeAnewIsReadFromTheBeginning() async throws {
        let items = try here.collection("items")
        let theirs = try there.collection("items")
        for number in 0..<5 { try items.put("old\(number)", "{}") }
        _ = try await items.replicate(with: theirs, ReplicationOptions(.push)).finished
        let checkpoints = try items.snapshot().localDocumentNames.map {
            ($0, try items.localDocument($0)?.json() ?? "")
        }
        try here.drop(items)
        let remade = try here.collection("items")
        // A copy of the checkpoint, as a restored one would be: its position belongs to another history.
        for (name, json) in checkpoints { try remade.putLocal(name, json) }
        for number in 0..<9 { try remade.put("new\(number)", "{}") }
        let status = try await remade.replicate(with: theirs, ReplicationOptions(.push)).finished
        #expect(status.pushed.checked == 9)
        #expect(try theirs.count == 14)
    }

    @Test func attachmentsGoOnceAndWhole() async throws {
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for id in ["a", "b"] {
            var draft = MutableDocument(id: id)
            draft.attachments["picture"] = Attachment(try here.blob(bytes, type: "image/png"))
            try notes.put(draft)
        }
        _ = try await replicate(ReplicationOptions(.push))
        #expect(try notes.replicated() == others.replicated())
        let attachment = try #require(try others.document("a")?.attachments["picture"])
        #expect(try there.blobReader(attachment)?.readAll() == bytes)
        #expect(attachment.contentType == "image/png")
    }

    @Test func betweenAnEncryptedDatabaseAndAPlainOne() async throws {
        let sealed = try peers.open("sealed", key: EncryptionKey(bytes: [UInt8](repeating: 7, count: 32)))
        var draft = MutableDocument(id: "a")
        draft.attachments["x"] = Attachment(try here.blob([1, 2, 3]))
        try notes.put(draft)
        let collection = try sealed.defaultCollection
        _ = try await notes.replicate(with: collection, ReplicationOptions(.push)).finished
        #expect(try collection.replicated() == notes.replicated())
    }

    @Test func aDocumentThatCannotBeCarriedIsToldAndTheOthersGo() async throws {
        let blob = try here.blob(Array("content".utf8))
        var draft = MutableDocument(id: "broken")
        draft.attachments["x"] = Attachment(blob)
        try notes.put(draft)
        try notes.put("whole", "{}")
        try peers.removeBlobs(of: "here")
        let status = try await replicate(ReplicationOptions(.push))
        #expect(status.problems.map(\.document) == ["broken"])
        #expect(status.pushed.failed == 1)
        #expect(try others.document("whole") != nil)
        #expect(try others.document("broken") == nil)
    }

    @Test func selectionsCarryWhatTheySelect() async throws {
        for number in 0..<10 { try notes.put("n\(number)", #"{"n":\#(number)}"#) }
        _ = try await replicate(
            ReplicationOptions(.push) { $0.selection.documentIDs = ["n1", "n2", "none"] })
        #expect(try others.documents().map(\.id) == ["n1", "n2"])
        let even = ReplicationFilter("even", version: "1") { ($0["n"].int ?? 1) % 2 == 0 }
        _ = try await replicate(ReplicationOptions(.push) { $0.selection.filter = even })
        #expect(try others.documents().map(\.id) == ["n0", "n1", "n2", "n4", "n6", "n8"])
    }

    @Test func winnersOnlyLeavesConflictsBehind() async throws {
        try notes.insert("c", ["2-aa", "1-aa"])
        try notes.insert("c", ["2-bb", "1-aa"])
        _ = try await replicate(ReplicationOptions(.push) { $0.selection.winnersOnly = true })
        #expect(try others.snapshot().leaves(of: "c").map { "\($0.id)" } == ["2-bb"])
    }

    @Test func conflictsThatComeAreSettledHere() async throws {
        try notes.insert("c", ["2-aa", "1-aa"], json: #"{"tags":["a"]}"#)
        try others.insert("c", ["2-bb", "1-aa"], json: #"{"tags":["b"]}"#)
        let merging = ConflictResolver { leaves in
            let tags = Set(leaves.flatMap { $0["tags"].array?.compactMap(\.string) ?? [] }).sorted()
            return .merge(
                into: leaves[0].revision, json: #"{"tags":["\#(tags.joined(separator: #"",""#))"]}"#)
        }
        _ = try await replicate(ReplicationOptions(.both) { $0.resolver = merging })
        #expect(try notes.document("c")?.json() == #"{"tags":["a","b"]}"#)
        #expect(try notes.replicated() == others.replicated())
        #expect(try others.snapshot().conflicts(of: "c").isEmpty)
    }

    @Test func aContinuousOneCarriesWhatComesUntilItIsStopped() async throws {
        try notes.put("first", "{}")
        let replication = notes.replicate(with: others, ReplicationOptions(.both, continuous: true))
        try await others.waitFor("first")
        try notes.put("second", "{}")
        try await others.waitFor("second")
        try others.put("theirs", "{}")
        try await notes.waitFor("theirs")
        await replication.stop()
        #expect(replication.status.isEnded)
        #expect(try await replication.finished.pushed.written >= 2)
        #expect(try notes.replicated() == others.replicated())
    }

    @Test func statusesEndWithTheReplication() async throws {
        for number in 0..<100 { try notes.put("n\(number)", "{}") }
        let replication = notes.replicate(with: others, ReplicationOptions(.push) { $0.batchSize = 10 })
        var last: ReplicationStatus?
        for await status in replication.updates { last = status }
        #expect(last?.isEnded == true)
        #expect(last?.pushed.written == 100)
        #expect(last?.pushed.pending == 0)
    }
}

extension DocumentCollection {
    /// Waits for a document to come, by the changes that tell of it.
    func waitFor(_ id: String) async throws {
        for try await change in changes() where change.id == id { return }
    }
}
