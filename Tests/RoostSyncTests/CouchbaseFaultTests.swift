import Foundation
import Roost
import RoostBLIP
import RoostREST
import RoostWire
import Synchronization
import Testing

@testable import RoostSync

/// Replication over Couchbase Lite's protocol with connections that break, and with servers that don't keep to it.
@Suite struct CouchbaseFaultTests {
    private let peers: Peers
    private let notes: DocumentCollection

    init() throws {
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
    }

    /// Breaks the connection after one message, after two, and so on, until a run gets through. What was acknowledged is not lost,
    /// and nothing is passed over.
    @Test func brokenConnectionsLoseNothing() async throws {
        let router = Router(try DatabaseDirectory(peers.directory + "/served"))
        _ = await router.respond(to: .json("PUT", "/notes", "{}"), as: .admin)
        for n in 0..<12 {
            var draft = MutableDocument(id: "here \(n)")
            draft.properties["blob"] = try notes.database.blob(Array("content \(n)".utf8)).value
            try notes.put(draft)
            _ = await router.respond(to: .json("PUT", "/notes/there%20\(n)", #"{"n":\#(n)}"#), as: .admin)
        }
        try notes.put("gone")
        try notes.remove("gone")
        let cut = Mutex(0)
        var runs = 0
        while true {
            runs += 1
            let limit = runs
            cut.withLock { $0 = limit }
            let remote = RemoteDatabase.piped(router) { cut.withLock(\.self) }
            let options = ReplicationOptions(.both) {
                $0.retry.attempts = 1
                $0.batchSize = 5
            }
            let replication = notes.replicate(with: remote, options)
            do {
                let status = try await replication.finished
                #expect(status.problems.isEmpty)
                break
            } catch let error as TransportError {
                #expect(error.code == .interrupted)
            }
        }
        #expect(runs > 5)
        let copy = try peers.open("copy").defaultCollection
        let status = try await copy.replicate(with: .piped(router), ReplicationOptions(.pull)).finished
        #expect(status.problems.isEmpty)
        #expect(try copy.replicated() == notes.replicated())
        #expect(try copy.replicated().count == 25)
    }

    // MARK: Servers that lie

    private func pull(_ remote: RemoteDatabase) async throws -> ReplicationStatus {
        try await notes.replicate(
            with: remote, ReplicationOptions(.pull) { $0.retry.attempts = 1 }
        ).finished
    }

    @Test func aRevisionIsAnsweredOnceItIsStored() async throws {
        let script = CouchbaseScript()
        let notes = notes
        let status = try await pull(
            script.server(["a", "b"]) { session in
                for id in ["a", "b"] {
                    let (_, isError) = try await session.reply(to: CouchbaseScript.revisionMessage(id))
                    let isStored = try notes.find(id) != nil
                    script.state.withLock { $0.isStoredWhenAnswered[id] = isStored && !isError }
                }
            })
        #expect(status.pulled.written == 2)
        #expect(script.state.withLock(\.isStoredWhenAnswered) == ["a": true, "b": true])
    }

    @Test func theEndOfTheChangesIsNotTheEndOfTheRevisions() async throws {
        let status = try await pull(
            CouchbaseScript().server(["a", "b"], endsEarly: true) { session in
                for id in ["b", "a"] { _ = try await session.reply(to: CouchbaseScript.revisionMessage(id)) }
            })
        #expect(status.problems.isEmpty && status.pulled.written == 2)
        #expect(try notes.find("a") != nil && notes.find("b") != nil)
    }

    /// The server neither sends a revision that is wanted nor says that it has it no more.
    @Test func whatDoesNotComeEndsTheTry() async throws {
        let script = CouchbaseScript()
        let lying = script.server(["a", "b"], idleSeconds: 0.2) { session in
            _ = try await session.reply(to: CouchbaseScript.revisionMessage("a"))
        }
        do {
            _ = try await pull(lying)
            Issue.record("A revision was passed over.")
        } catch let error as TransportError {
            // Whichever side has waited for long enough first.
            #expect([.timedOut, .interrupted].contains(error.code))
        }
        #expect(
            script.state.withLock {
                $0.checkpoints.allSatisfy {
                    !String(decoding: $0.value.body, as: UTF8.self).contains("recorded_seq")
                }
            })
        let honest = script.server(["a", "b"]) { session in
            // The first may have been stored, and is refused then.
            for id in ["a", "b"] { _ = try await session.reply(to: CouchbaseScript.revisionMessage(id)) }
        }
        #expect(try await pull(honest).problems.isEmpty)
        #expect(try notes.find("a") != nil && notes.find("b") != nil)
    }

    @Test func whatTheServerDoesNotGiveIsListedAndTriedAgain() async throws {
        let script = CouchbaseScript()
        let lost = BLIPMessage([
            "Profile": "norev", "collection": "0", "id": "b", "rev": CouchbaseScript.revision,
            "sequence": "2",
            "error": "500", "reason": "broken",
        ])
        let broken = script.server(
            ["a", "b"], lookedUp: (["b"], { await $0.notify(lost) })
        ) { session in
            _ = try await session.reply(to: CouchbaseScript.revisionMessage("a"))
            await session.notify(lost)
        }
        let status = try await pull(broken)
        #expect(status.pulled.written == 1)
        #expect(status.problems.map(\.document) == ["b"])
        let mended = script.server(
            ["a", "b"],
            lookedUp: (
                ["b"], { _ = try await $0.reply(to: CouchbaseScript.revisionMessage("b", sequence: 2)) }
            )
        ) { _ in }
        let again = try await pull(mended)
        #expect(again.problems.isEmpty && again.pulled.written == 1)
        #expect(try notes.find("b") != nil)
    }

    /// What was edited between the list and its revision comes in its present revision, and is no problem.
    @Test func whatIsEditedMeanwhileIsNoProblem() async throws {
        let gone = BLIPMessage([
            "Profile": "norev", "collection": "0", "id": "b", "rev": CouchbaseScript.revision,
            "sequence": "2",
            "error": "404", "reason": "missing",
        ])
        let status = try await pull(
            CouchbaseScript().server(["a", "b"]) { session in
                _ = try await session.reply(to: CouchbaseScript.revisionMessage("a"))
                await session.notify(gone)
            })
        #expect(status.problems.isEmpty && status.pulled.written == 1)
    }

    @Test func aCheckpointThatIsTooFarIsNotBelieved() async throws {
        let script = CouchbaseScript()
        let remote = script.server(["a"]) { session in
            _ = try await session.reply(to: CouchbaseScript.revisionMessage("a"))
        }
        _ = try await pull(remote)
        // Another database here has never met this server, which says that it has everything.
        let other = try peers.open("other").defaultCollection
        let far = Array(
            #"{"history":[{"session_id":"x","recorded_seq":"99","missing_checked":0,"missing_found":0,"docs_read":0,"docs_written":0,"doc_write_failures":0}],"session_id":"x","source_last_seq":"99","replication_id_version":1}"#
                .utf8)
        let lying = RemoteDatabase.scripted { request, session in
            switch request.profile {
            case "getCheckpoint": return .message(BLIPMessage(["rev": "9-cc"], body: far))
            case "setCheckpoint": return .message(BLIPMessage(["rev": "10-cc"]))
            case "subChanges":
                let isFromBeginning = request.properties["since"] == nil
                Task {
                    if isFromBeginning {
                        _ = try await session.reply(to: CouchbaseScript.list(["a"]))
                        _ = try await session.reply(to: CouchbaseScript.revisionMessage("a"))
                    }
                    await session.notify(CouchbaseScript.end)
                }
                return .done
            default: return await script.answer(request)
            }
        }
        let status = try await other.replicate(with: lying, ReplicationOptions(.pull)).finished
        #expect(status.pulled.written == 1)
        #expect(try other.find("a") != nil)
    }

    @Test func whatWasNotAskedForIsRefused() async throws {
        let script = CouchbaseScript()
        let status = try await pull(
            script.server(["a"]) { session in
                let (_, isError) = try await session.reply(to: CouchbaseScript.revisionMessage("stranger"))
                script.state.withLock { $0.refusals.append(isError ? 1 : 0) }
                _ = try await session.reply(to: CouchbaseScript.revisionMessage("a"))
                let (_, isAgainError) = try await session.reply(
                    to: CouchbaseScript.revisionMessage("a", #"{"n":2}"#))
                script.state.withLock { $0.refusals.append(isAgainError ? 1 : 0) }
            })
        #expect(status.pulled.written == 1)
        #expect(script.state.withLock(\.refusals) == [1, 1])
        #expect(try notes.find("stranger") == nil && notes.find("a")?["n"].int == nil)
    }

    @Test func contentOfAnotherDigestIsNotStored() async throws {
        let body =
            #"{"pic":{"@type":"blob","digest":"sha1-c2XTGPrFT86b4bdd8Xo4E/Zpuww=","length":10,"content_type":"text/plain"}}"#
        let status = try await pull(
            CouchbaseScript().server(["a", "b"], blob: Array("something else".utf8)) { session in
                async let first = session.reply(to: CouchbaseScript.revisionMessage("a", body))
                async let second = session.reply(to: CouchbaseScript.revisionMessage("b"))
                let (refused, stored) = (try await first, try await second)
                #expect(refused.isError && !stored.isError)
            })
        #expect(status.problems.map(\.document) == ["a"])
        #expect(try notes.find("a") == nil && notes.find("b") != nil)
        let right = try await pull(
            CouchbaseScript().server(["a", "b"], blob: Array("hello blob".utf8)) { session in
                let (_, isError) = try await session.reply(to: CouchbaseScript.revisionMessage("a", body))
                #expect(!isError)
            })
        #expect(right.problems.isEmpty)
        #expect(try notes.find("a") != nil)
    }

    /// A server may ask for the blobs of what is being sent, and learns nothing of others.
    @Test func onlyBlobsOfWhatIsSentAreShown() async throws {
        let secret = try notes.database.blob(Array("secret".utf8))
        var hidden = MutableDocument(id: "hidden")
        hidden.properties["x"] = secret.value
        try notes.put(hidden)
        var shown = MutableDocument(id: "shown")
        let blob = try notes.database.blob(Array("shown".utf8))
        shown.properties["x"] = blob.value
        try notes.put(shown)
        let script = CouchbaseScript()
        let answers = Mutex<[Bool]>([])
        let digests = (secret.digest, blob.digest)
        let remote = RemoteDatabase.scripted { request, session in
            switch request.profile {
            case "proposeChanges": return .message(BLIPMessage(body: Array("[]".utf8)))
            case "rev":
                for (profile, digest) in [
                    ("getAttachment", digests.0), ("proveAttachment", digests.0),
                    ("getAttachment", digests.1),
                    ("proveAttachment", digests.1),
                ] {
                    let asked = BLIPMessage(
                        ["Profile": profile, "collection": "0", "digest": digest, "docID": "shown"],
                        body: [1, 2, 3])
                    let isError = (try? await session.reply(to: asked))?.isError
                    answers.withLock { $0.append(isError == false) }
                }
                return .done
            default: return await script.answer(request)
            }
        }
        let options = ReplicationOptions(.push) { $0.selection.documentIDs = ["shown"] }
        let status = try await notes.replicate(with: remote, options).finished
        #expect(status.pushed.written == 1)
        #expect(answers.withLock(\.self) == [false, false, true, true])
    }

    /// A server of before proposals takes lists of changes, and names what it has.
    @Test func changesGoWhereProposalsDoNot() async throws {
        try notes.put("a", #"{"n":1}"#)
        try notes.put("a", #"{"n":2}"#)
        let parent = try #require(try notes.snapshot().history(of: "a").last).description
        let script = CouchbaseScript()
        let histories = Mutex<[String?]>([])
        let remote = RemoteDatabase.scripted { request, _ in
            switch request.profile {
            case "changes": return .message(BLIPMessage(body: Array("[[\"\(parent)\"]]".utf8)))
            case "rev":
                histories.withLock { $0.append(request.properties["history"]) }
                return .done
            default: return await script.answer(request)
            }
        }
        let status = try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
        #expect(status.pushed.written == 1)
        #expect(histories.withLock(\.self) == [parent])
    }

    @Test func refusedDocumentsAreToldAndTriedAgain() async throws {
        for id in ["a", "b"] { try notes.put(id) }
        let script = CouchbaseScript()
        let refuses = Mutex(true)
        let remote = RemoteDatabase.scripted { request, _ in
            switch request.profile {
            case "proposeChanges":
                let count =
                    String(decoding: (try? await request.body.collect()) ?? [], as: UTF8.self)
                    .components(separatedBy: "[\"").count - 1
                return .message(BLIPMessage(body: Array(count == 1 ? "[0]".utf8 : "[]".utf8)))
            case "rev" where request.properties["id"] == "a" && refuses.withLock(\.self):
                return .failure(BLIPMessage(errorIn: "HTTP", code: 403, "The sync function says no."))
            case "rev": return .done
            default: return await script.answer(request)
            }
        }
        let status = try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
        #expect(status.pushed.written == 1)
        #expect(status.problems.map(\.document) == ["a"])
        #expect(status.problems.first?.description.contains("The sync function says no.") == true)
        refuses.withLock { $0 = false }
        let again = try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
        #expect(again.problems.isEmpty && again.pushed.written == 1)
    }

    @Test func strangeListsEndTheTry() async throws {
        for text in ["[[1]]", "{}", "[[1,2,3]]", "no"] {
            let script = CouchbaseScript()
            let remote = RemoteDatabase.scripted { request, session in
                guard request.profile == "subChanges" else { return await script.answer(request) }
                Task {
                    _ = try? await session.reply(
                        to: BLIPMessage(["Profile": "changes", "collection": "0"], body: Array(text.utf8)))
                }
                return .done
            }
            await #expect(throws: TransportError.self) { try await pull(remote) }
        }
        // A name that is none is a problem of that document.
        let script = CouchbaseScript()
        let remote = RemoteDatabase.scripted { request, session in
            guard request.profile == "subChanges" else { return await script.answer(request) }
            Task {
                _ = try? await session.reply(
                    to: BLIPMessage(
                        ["Profile": "changes", "collection": "0"], body: Array("[[1,\"a\",\"1-XYZ\"]]".utf8)))
                await session.notify(CouchbaseScript.end)
            }
            return .done
        }
        let status = try await pull(remote)
        #expect(status.problems.map(\.document) == ["a"])
    }
}
