import Fleece
import Roost
import RoostWire
import Synchronization

extension DatabasePeer {
    /// How many revisions' attachments are stored at a time: each waits for the source, and for the medium.
    private static let parallelContents = 8

    package func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem] {
        var problems: [ReplicationProblem] = []
        var prepared: [(CarriedRevision, Prepared)] = []
        var waiting: [CarriedRevision] = []
        for revision in revisions {
            if case .stored(let document, _, _) = revision.content, !document.attachments.isEmpty {
                waiting.append(revision)
                continue
            }
            do {
                let content = try prepare(revision)
                if content.hasInlineContents || !revision.blobs.isEmpty {
                    waiting.append(revision)
                } else {
                    prepared.append((revision, content))
                }
            } catch {
                guard error.isOfOneDocument else { throw error }
                problems.append(ReplicationProblem(revision.id, revision.revision, error))
            }
        }
        // A server that fails at the attachments of one document holds up no other.
        let failures = SharedServerFailures()
        let (stored, failed) = try await withContents(of: waiting, failures) { revision in
            switch try prepare(revision) {
            case .incoming(let document):
                .withContents(
                    .incoming(
                        try await database.perform {
                            try database.storeInline(document, longest: longestAttachment)
                        }), try await storeBlobs(of: revision))
            case let prepared: .withContents(prepared, try await storeContents(of: revision))
            }
        }
        problems += failed
        var missing: [CarriedRevision] = []
        var held: NamedValues<[Blob]> = [:]
        for (revision, content) in stored { held[revision.id] = (held[revision.id] ?? []) + content.blobs }
        for (revision, error) in try await insert(prepared + stored) {
            if (error as? DatabaseError)?.code == .missingStub {
                // Attachments that were expected to be here are not: they come from the source after all.
                var again = revision
                again.held = held[revision.id] ?? []
                missing.append(again)
            } else {
                problems.append(ReplicationProblem(revision.id, revision.revision, error))
            }
        }
        if prepared.count + stored.count > missing.count { failures.noteAnswer() }
        let (whole, lost) = try await withContents(of: missing, failures) { revision in
            .withContents(
                .incoming(try await fetchAll(of: revision)),
                try await revision.held + storeBlobs(of: revision))
        }
        problems += lost
        for (revision, error) in try await insert(whole) {
            problems.append(ReplicationProblem(revision.id, revision.revision, error))
        }
        return try problems + failures.problems()
    }

    /// Revisions that `prepare`, which stores their attachments, has prepared, several at a time; and those at which it failed.
    private func withContents(
        of revisions: [CarriedRevision], _ failures: SharedServerFailures,
        _ prepare: @escaping @Sendable (CarriedRevision) async throws -> Prepared
    ) async throws -> (prepared: [(CarriedRevision, Prepared)], problems: [ReplicationProblem]) {
        let results = try await concurrently(revisions, limit: Self.parallelContents) {
            revision -> Result<Prepared, ReplicationProblem>? in
            do {
                return try await failures.run(revision.id, revision.revision) { try await prepare(revision) }
                    .map { .success($0) }
            } catch {
                guard error.isOfOneDocument else { throw error }
                return .failure(ReplicationProblem(revision.id, revision.revision, error))
            }
        }
        var prepared: [(CarriedRevision, Prepared)] = []
        var problems: [ReplicationProblem] = []
        for (revision, result) in zip(revisions, results) {
            switch result {
            case .success(let content): prepared.append((revision, content))
            case .failure(let problem): problems.append(problem)
            case nil: break
            }
        }
        return (prepared, problems)
    }

    /// A revision that can be inserted without waiting for anything.
    private enum Prepared: Sendable {
        case stored(Document, history: [RevisionID])
        case incoming(IncomingDocument)
        /// With contents that were stored for it, and go unless it is inserted.
        indirect case withContents(Prepared, [Blob])

        /// Whether its text contains content of attachments.
        var hasInlineContents: Bool {
            guard case .incoming(let document) = self else { return false }
            return document.attachments?.contains { $0.value.isInline } == true
        }

        /// What was stored for it.
        var blobs: [Blob] { if case .withContents(_, let blobs) = self { blobs } else { [] } }

        /// Without what it holds.
        var revision: Prepared { if case .withContents(let prepared, _) = self { prepared } else { self } }
    }

    /// Inserts revisions in one commit; answers those that were refused.
    private func insert(
        _ prepared: [(CarriedRevision, Prepared)]
    ) async throws -> [(CarriedRevision, any Error)] {
        guard !prepared.isEmpty else { return [] }
        return try await database.write { batch in
            var refused: [(CarriedRevision, any Error)] = []
            for (revision, content) in prepared {
                do {
                    var isNew = false
                    switch content.revision {
                    case .stored(let document, let history):
                        try pass(document.id, document.value, document.isDeleted, history, batch)
                        isNew = try batch.insert(document, history: history, in: collection)
                    case .incoming(let document):
                        try pass(revision.id, document.value, document.isDeleted, document.history, batch)
                        isNew = try batch.insert(document, id: revision.id, in: collection)
                    case .withContents: break
                    }
                    // Also those that the properties name and no attachment.
                    if isNew, case .withContents(_, let blobs) = content { batch.name(blobs) }
                } catch {
                    guard error.isOfOneDocument else { throw error }
                    refused.append((revision, error))
                }
            }
            return refused
        }
    }

    private func pass(
        _ id: String, _ properties: FleeceValue, _ isDeleted: Bool, _ history: [RevisionID],
        _ batch: WriteTransaction
    ) throws {
        guard let gate else { return }
        do {
            try gate(id, properties, isDeleted, history, batch)
        } catch let error as DatabaseError {
            throw error
        } catch {
            throw FunctionError(cause: error)
        }
    }

    private func prepare(_ revision: CarriedRevision) throws -> Prepared {
        switch revision.content {
        case .json(let text):
            let document = try IncomingDocument(json: text)
            guard try document.history.first == revision.revision else {
                throw DatabaseError(
                    .corruptRevisionData, "The peer sent another revision than \(revision.revision).")
            }
            return .incoming(document)
        case .stored(let document, let history, _): return .stored(document, history: history)
        }
    }

    /// Stores the attachments of a document of a database in this process that are not here yet.
    ///
    /// - Returns: What was stored: it goes with the last copy unless the document names it then.
    private func storeContents(of revision: CarriedRevision) async throws -> [Blob] {
        guard case .stored(let document, _, _) = revision.content else { return [] }
        var contents: [Blob] = []
        for (name, attachment) in document.attachments
        where try database.blobReader(attachment) == nil {
            let blob = try await store(
                name, of: revision, attachment.contentType, length: attachment.length)
            guard blob.length == attachment.length, try database.blobReader(attachment) != nil else {
                throw damaged(name)
            }
            contents.append(blob)
        }
        return contents
    }

    /// Stores the blobs that the properties name and that are not here yet.
    ///
    /// - Returns: What was stored: it goes with the last copy unless the document names it then.
    private func storeBlobs(of revision: CarriedRevision) async throws -> [Blob] {
        guard let read = revision.blob else { return [] }
        var contents: [Blob] = []
        for named in revision.blobs {
            guard try database.blobReader(named.digest) == nil else {
                // Another revision may hold it that is not stored in the end.
                contents += [named.described].compactMap(\.self)
                continue
            }
            let stored = try await store(
                named.digest, read(named.digest), named.contentType, length: nil)
            guard stored.digest.isIdentical(to: named.digest) else { throw damaged(named.digest) }
            contents.append(stored)
        }
        return contents
    }

    /// The revision with all of its attachments' content.
    private func fetchAll(of revision: CarriedRevision) async throws -> IncomingDocument {
        let (text, attachments) = try AttachmentText.following(try revision.json(), newerThan: 0)
        var document = try IncomingDocument(json: text)
        for attachment in attachments {
            // What the source states is no permission to fill the disk.
            guard attachment.length ?? 0 <= longestAttachment else { throw tooLong(attachment.name) }
            let blob = try await store(
                attachment.name, of: revision, attachment.contentType,
                length: attachment.isEncoded ? nil : attachment.length)
            let stored = Attachment(blob)
            guard attachment.digest == nil || [stored.digest, stored.md5].contains(attachment.digest) else {
                throw damaged(attachment.name)
            }
            document.contents[attachment.name] = stored
        }
        return document
    }

    private func store(
        _ name: String, of revision: CarriedRevision, _ contentType: String?, length: UInt64?
    ) async throws -> Blob {
        try await store(name, revision.attachment(name), contentType, length: length)
    }

    /// - Parameter length: The length that the content must have; `nil` for any that is permitted.
    private func store(
        _ name: String, _ stream: any BodyStream, _ contentType: String?, length: UInt64?
    ) async throws -> Blob {
        let writer = BlobTarget(
            try database.makeBlobWriter(contentType: contentType, options: BlobOptions(computesMD5: true)))
        do {
            var left = length ?? longestAttachment
            while let bytes = try await stream.next() {
                // A peer that sends without end must not fill the disk.
                guard bytes.count <= left else { throw length == nil ? tooLong(name) : damaged(name) }
                left -= UInt64(bytes.count)
                try writer.write(bytes)
            }
            guard length == nil || left == 0 else { throw damaged(name) }
        } catch {
            writer.cancel()
            throw error
        }
        // It waits for the medium: not on a thread of the task's executor.
        return try await database.perform { try writer.finish() }
    }

    private func tooLong(_ name: String) -> DatabaseError {
        DatabaseError(
            .limitExceeded,
            "The attachment \(name) is longer than \(longestAttachment) bytes, the most that is pulled.")
    }

    private func damaged(_ name: String) -> DatabaseError {
        DatabaseError(
            .corruptRevisionData, "The content of the attachment \(name) is not what its digest says.")
    }
}

/// A blob that is being written, by one thread at a time.
private final class BlobTarget: Sendable {
    private let writer: Mutex<BlobWriter>

    init(_ writer: sending BlobWriter) { self.writer = Mutex(writer) }

    func write(_ bytes: [UInt8]) throws { try writer.withLock { try $0.write(bytes) } }

    func finish() throws -> Blob { try writer.withLock { try $0.finishForDocument() } }

    func cancel() { writer.withLock { $0.cancel() } }
}
