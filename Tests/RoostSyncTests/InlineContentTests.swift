import Dispatch
import Foundation
import Roost
import Testing

@testable import RoostSync

/// Content of attachments that stands in the text of documents that another server gives.
@Suite(.timeLimit(.minutes(2))) struct InlineContentTests {
    private let peers: Peers
    private let notes: DocumentCollection

    init() throws {
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
    }

    private static func carried(_ id: String, _ attachments: String) throws -> CarriedRevision {
        let text = #"{"_id":"\#(id)","_rev":"1-aa","_attachments":{\#(attachments)}}"#
        return CarriedRevision(
            id: id, revision: try RevisionID(validating: "1-aa"), knownGeneration: 0,
            content: .json(Array(text.utf8))
        ) { name in throw DatabaseError(.notFound, "Nobody asks for \(name).") }
    }

    /// A document with two attachments, "hello" and "hi".
    private static let two = #""a":{"data":"aGVsbG8="},"b":{"content_type":"text/plain","data":"aGk="}"#

    @Test func itIsStoredBeforeTheWrite() async throws {
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let writer = Task { [notes] in
            try await notes.database.write { _ in
                begun.signal()
                end.wait()
            }
        }
        await withCheckedContinuation { continuation in
            Thread {
                begun.wait()
                continuation.resume()
            }.start()
        }
        let peer = DatabasePeer(notes, longestAttachment: 1_000)
        let revision = try Self.carried("doc", Self.two)
        async let problems = peer.write([revision])
        // While another write is under way.
        while try notes.database.blobs().count < 2 { try await Task.sleep(for: .milliseconds(2)) }
        end.signal()
        try await writer.value
        #expect(try await problems.isEmpty)
        let document = try #require(try notes.find("doc"))
        #expect(document.attachments["a"]?.length == 5 && document.attachments["b"]?.length == 2)
        #expect(document.attachments["b"]?.contentType == "text/plain")
    }

    /// As any other content; the other documents are stored.
    @Test func itIsNoLongerThanAttachmentsMayBe() async throws {
        let peer = DatabasePeer(notes, longestAttachment: 4)
        let problems = try await peer.write([
            try Self.carried("long", Self.two), try Self.carried("short", #""b":{"data":"aGk="}"#),
            try Self.carried("none", ""), try Self.carried("bad", #""_b":{"data":"aGk="}"#),
        ])
        #expect(problems.map(\.document).sorted() == ["bad", "long"])
        #expect(try notes.documents().map(\.id) == ["none", "short"])
        #expect(try notes.database.blobs().count == 1)
    }
}
