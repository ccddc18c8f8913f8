import Fleece
import Roost
import RoostBLIP
import RoostBytes
import RoostCrypto
import RoostWire

/// Revisions that go to the server: proposed first, then sent where the server has what they are edits of.
extension CouchbasePeer {
    /// The longest name that a document may have in Couchbase Lite, in bytes.
    private static let longestID = 240
    /// How many revisions are sent at a time without an answer, of those that are read together.
    private static let mostUnanswered = 10

    /// A winner with its history.
    private struct Candidate: Sendable {
        let id: String
        let revision: RevisionID
        /// The names of the revision and its ancestors, newest first.
        let names: [String]
        let sequence: UInt64
        let isDeleted: Bool

        var key: CouchbaseLink.Key { CouchbaseLink.Key(id, names[0]) }
    }

    /// Proposes the winners among some leaves, or of documents without leaves; returns those that the server lacks.
    ///
    /// Returns those that it refuses, too: ``send(_:)`` reports the reason.
    func propose(_ offered: [ChangedDocument]) async throws -> [WantedRevisions] {
        var wanted: [WantedRevisions] = []
        for start in stride(from: 0, to: offered.count, by: Self.listSize) {
            let part = Array(offered[start..<min(start + Self.listSize, offered.count)])
            wanted += try await propose(candidates(part))
        }
        return wanted
    }

    /// Design documents belong to CouchDB's API, and other leaves than the winner are unknown there.
    private func candidates(_ offered: [ChangedDocument]) async throws -> [Candidate] {
        let local = local
        return try await local.database.perform {
            let snapshot = try local.snapshot()
            return try offered.compactMap { document in
                guard !document.id.begins(with: "_"), let winner = try snapshot.leaves(of: document.id).first,
                    document.leaves.isEmpty || document.leaves.contains(winner.id)
                else { return nil }
                let history = try snapshot.history(of: document.id, revision: winner.id)
                return Candidate(
                    id: document.id, revision: winner.id, names: history.map(TreeNames.text),
                    sequence: winner.sequence, isDeleted: winner.isDeleted)
            }
        }
    }

    private func propose(_ candidates: [Candidate]) async throws -> [WantedRevisions] {
        var wanted: [WantedRevisions] = []
        var again: [(Candidate, base: String)] = []
        var first: [(Candidate, base: String)] = []
        for candidate in candidates {
            guard candidate.id.utf8.count <= Self.longestID else {
                let reason =
                    "Couchbase Lite takes no document with an ID of more than \(Self.longestID) bytes."
                wanted.append(refuse(candidate, RemoteError(status: 400, "too_long", reason, server.label)))
                continue
            }
            // The parent is what the server has most often; which it is else, it says.
            first.append((candidate, candidate.names.dropFirst().first ?? ""))
        }
        guard takesProposals else { return wanted + (try await offer(first.map(\.0))) }
        let answers: [Verdict]
        do {
            answers = try await verdicts(first)
        } catch let error as RemoteError where error.status == 404 || error.status == 501 {
            takesProposals = false
            return wanted + (try await offer(first.map(\.0)))
        }
        for ((candidate, base), verdict) in zip(first, answers) {
            switch verdict {
            case .known: break
            case .wanted: wanted.append(accept(candidate, base: base))
            case .refused(let error): wanted.append(refuse(candidate, error))
            case .conflict(let current):
                if candidate.names.dropFirst().contains(where: { $0.isIdentical(to: current) }) {
                    again.append((candidate, current))
                } else if let rebased = try await rebase(candidate, onto: current) {
                    again.append((rebased, current))
                } else {
                    wanted.append(refuse(candidate, conflict(current)))
                }
            }
        }
        guard !again.isEmpty else { return wanted }
        for ((candidate, base), verdict) in zip(again, try await verdicts(again)) {
            switch verdict {
            case .known: break
            case .wanted: wanted.append(accept(candidate, base: base))
            case .refused(let error): wanted.append(refuse(candidate, error))
            case .conflict(let current): wanted.append(refuse(candidate, conflict(current)))
            }
        }
        return wanted
    }

    private func conflict(_ current: String) -> RemoteError {
        RemoteError(
            status: 409, "conflict",
            "The server has the revision \(current.prefix(100)). Pull it, and resolve the conflict.",
            server.label)
    }

    private func accept(_ candidate: Candidate, base: String) -> WantedRevisions {
        proposals[candidate.key] = .accepted(base: base.isEmpty ? nil : base)
        return WantedRevisions(id: candidate.id, revisions: [candidate.revision], possibleAncestors: [])
    }

    private func refuse(_ candidate: Candidate, _ error: RemoteError) -> WantedRevisions {
        proposals[candidate.key] = .refused(error)
        return WantedRevisions(id: candidate.id, revisions: [candidate.revision], possibleAncestors: [])
    }

    // MARK: What the server says

    private enum Verdict {
        case wanted
        case known
        /// The server has another revision; empty where it does not say which.
        case conflict(String)
        case refused(RemoteError)
    }

    private func verdicts(_ proposed: [(Candidate, base: String)]) async throws -> [Verdict] {
        guard !proposed.isEmpty else { return [] }
        let rows = proposed.map { candidate, base in
            DocumentValue.array([.string(candidate.id), .string(candidate.names[0]), .string(base)])
        }
        let reply = try await link().ask(
            "proposeChanges", ["conflictIncludesRev": "true"],
            body: Array(try DocumentValue.array(rows).json().utf8), options: .compressed)
        let answers = try answers(reply, count: proposed.count)
        return proposed.indices.map { index in
            guard index < answers.count else { return .wanted }
            let answer = answers[index]
            let status = answer.int ?? answer["status"].int ?? 500
            switch status {
            case 0: return .wanted
            case 304: return .known
            case 409: return .conflict(answer["rev"].string ?? "")
            default:
                let error = RemoteError(
                    status: status, "refused", "The server does not take the document.", server.label)
                return .refused(error)
            }
        }
    }

    /// The older way: a list of changes, of which the server names those that it wants, and what it has of their documents.
    private func offer(_ candidates: [Candidate]) async throws -> [WantedRevisions] {
        guard !candidates.isEmpty else { return [] }
        let rows = candidates.map { candidate in
            DocumentValue.array(
                [
                    .integer(Int64(clamping: candidate.sequence)), .string(candidate.id),
                    .string(candidate.names[0]),
                ]
                    + (candidate.isDeleted ? [.integer(1)] : []))
        }
        let reply = try await link().ask(
            "changes", body: Array(try DocumentValue.array(rows).json().utf8), options: .compressed)
        return zip(candidates, try answers(reply, count: candidates.count)).compactMap { candidate, answer in
            if let known = answer.array {
                let known = known.compactMap(\.string)
                let base = candidate.names.dropFirst().first { name in
                    known.contains { $0.isIdentical(to: name) }
                }
                return accept(candidate, base: base ?? "")
            }
            guard let status = answer.int, status != 0, status != 304 else { return nil }
            let error = RemoteError(
                status: status, "refused", "The server does not take the document.", server.label)
            return refuse(candidate, error)
        }
    }

    private func answers(_ reply: BLIPMessage, count: Int) throws -> FleeceArray {
        guard
            let answers = try? FleeceDocument(json: reply.body.isEmpty ? [0x5B, 0x5D] : reply.body).root
                .array,
            answers.count <= count
        else {
            throw TransportError(
                .malformed,
                "\(server.label) does not keep to the protocol: it answers other proposals than it got.")
        }
        return answers
    }

    // MARK: Resolved conflicts

    /// Makes an edit of the server's revision that says what the winner does, where this side has resolved the conflict between them.
    /// The server takes nothing that does not follow from its own.
    ///
    /// - Returns: The edit; `nil` where the server's revision is not known here, or the conflict is not resolved.
    private func rebase(_ candidate: Candidate, onto current: String) async throws -> Candidate? {
        let local = local
        return try await local.database.write { batch -> Candidate? in
            let snapshot = try local.snapshot()
            guard let base = try TreeNames(of: candidate.id, in: snapshot).revision(current),
                let winner = try snapshot.document(candidate.id, revision: candidate.revision),
                try snapshot.winner(of: candidate.id)?.revision == candidate.revision,
                try snapshot.conflicts(of: candidate.id).isEmpty
            else { return nil }
            let history = try snapshot.history(of: candidate.id, revision: base)
            // The batch sees what was committed after the snapshot, too.
            guard !history.isEmpty,
                try batch.document(candidate.id, in: local)?.revision
                    == (winner.isDeleted ? nil : candidate.revision)
            else { return nil }
            // Whoever resolves the same conflict in this way comes to the same revision.
            let digest = RandomText.text(
                Array(SHA1.hash(Array("\(base) \(candidate.revision)".utf8)).bytes))
            guard let revision = RevisionID("\(base.generation + 1)-\(digest)") else { return nil }
            _ = try batch.insert(winner, history: [revision] + history, in: local)
            if !winner.isDeleted { _ = try batch.delete(winner, in: local) }
            return Candidate(
                id: candidate.id, revision: revision, names: ([revision] + history).map(TreeNames.text),
                sequence: winner.sequence, isDeleted: winner.isDeleted)
        }
    }

    // MARK: Sending

    func send(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem] {
        var failures = ServerFailures()
        var problems: [ReplicationProblem] = []
        let results = try await concurrently(revisions, limit: Self.mostUnanswered) {
            [self] revision -> ReplicationProblem? in
            do {
                try await send(revision)
                return nil
            } catch {
                let isFailure = (error as? RemoteError).map { [500, 501, 502].contains($0.status) } ?? false
                guard error.isOfOneDocument || isFailure else { throw error }
                return ReplicationProblem(revision.id, revision.revision, error)
            }
        }
        failures.hasAnswered = results.contains { $0 == nil }
        for problem in results.compactMap(\.self) {
            if problem.cause.isOfOneDocument {
                failures.hasAnswered = true
                problems.append(problem)
            }
        }
        for problem in results.compactMap(\.self) where !problem.cause.isOfOneDocument {
            try failures.add(problem)
        }
        return try problems + failures.problems()
    }

    private func send(_ revision: CarriedRevision) async throws {
        let name = TreeNames.text(revision.revision)
        guard case .stored(let document, let history, _) = revision.content,
            let proposal = proposals.removeValue(forKey: CouchbaseLink.Key(revision.id, name))
        else { throw TransportError(.interrupted, "\(server.label): the connection was closed.") }
        let base: String?
        switch proposal {
        case .refused(let error): throw error
        case .accepted(let accepted): base = accepted
        }
        guard document.canNameAttachments else {
            throw DatabaseError(
                .invalidDocument,
                "Couchbase Lite knows attachments by SHA-1 alone, and one has another digest.")
        }
        var properties: BLIPProperties = [
            "id": revision.id, "rev": name, "sequence": String(document.sequence), "noconflicts": "true",
        ]
        var ancestors: [String] = []
        for ancestor in history.dropFirst() {
            ancestors.append(TreeNames.text(ancestor))
            if ancestors.last == base { break }
        }
        if !ancestors.isEmpty { properties["history"] = ancestors.joined(separator: ",") }
        if document.isDeleted { properties["deleted"] = "1" }
        let link = try await link()
        let references = BlobReferences(document)
        await link.note(revision.id, references.digests)
        do {
            _ = try await link.ask(
                "rev", properties, body: document.couchbaseJSON(references), options: .compressed)
            await link.forget(revision.id)
        } catch {
            await link.forget(revision.id)
            throw error
        }
    }
}
