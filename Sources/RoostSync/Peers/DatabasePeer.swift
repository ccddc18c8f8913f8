import Fleece
import Roost
import RoostWire
import Synchronization

/// A collection of a database in this process.
package struct DatabasePeer: ReplicationPeer {
    private let collection: DocumentCollection
    private let gate: ReplicationGate?
    private var database: Database { collection.database }

    /// The most bytes that are taken of an attachment from elsewhere.
    private let longestAttachment: UInt64

    /// How many revisions' attachments are stored at a time: each waits for the source, and for the medium.
    private static let parallelContents = 8

    /// - Parameter gate: What revisions that are stored here must pass.
    package init(
        _ collection: DocumentCollection, longestAttachment: UInt64, gate: ReplicationGate? = nil
    ) {
        self.collection = collection
        self.longestAttachment = longestAttachment
        self.gate = gate
    }

    package func identity() -> String { "\(database.privateUUID)/\(collection)" }

    package func filterCode(_ selection: ReplicationSelection) -> String? { nil }

    // MARK: Changes

    package func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch {
        guard selection.serverFilter == nil else {
            throw DatabaseError(
                .invalidQuery,
                "The database at \(database.path) has no filters of a server's. Give a function instead.")
        }
        return try await database.perform {
            let snapshot = try collection.snapshot()
            let changes = try snapshot.changes(since: snapshot.sequence(of: position), limit: limit)
            var documents: [ChangedDocument] = []
            for change in changes where selection.includes(change.id) {
                let leaves =
                    change.hasSeveralLeaves && !selection.winnersOnly
                    ? try snapshot.leaves(of: change.id).map(\.id) : [change.revision]
                documents.append(ChangedDocument(id: change.id, leaves: leaves))
            }
            let last = changes.last?.sequence ?? snapshot.lastSequence
            let pending = try snapshot.changeCount(since: last)
            return ChangeBatch(
                documents: documents, position: snapshot.position(at: last), pending: pending,
                isLast: pending == 0)
        }
    }

    package func leaves(of ids: [String]) async throws -> [ChangedDocument] {
        try await database.perform {
            let snapshot = try collection.snapshot()
            return try ids.compactMap { id in
                let leaves = try snapshot.leaves(of: id).map(\.id)
                return leaves.isEmpty ? nil : ChangedDocument(id: id, leaves: leaves)
            }
        }
    }

    package func untilChanged(after position: SourcePosition?) async throws {
        let snapshot = try collection.snapshot()
        var feed = collection.changes(since: snapshot.sequence(of: position)).makeAsyncIterator()
        guard try await feed.next() == nil else { return }
        try Task.checkCancellation()
        throw DatabaseError(.closed, "The database at \(database.path) was closed during a replication.")
    }

    // MARK: Revisions

    package func missing(_ offered: [ChangedDocument]) async throws -> [WantedRevisions] {
        try await database.perform {
            let snapshot = try collection.snapshot()
            let answers = try snapshot.missingRevisions(from: offered.map { ($0.id, $0.leaves) })
            return zip(offered, answers).compactMap { document, answer in
                guard !answer.missing.isEmpty else { return nil }
                return WantedRevisions(
                    id: document.id, revisions: answer.missing, possibleAncestors: answer.possibleAncestors)
            }
        }
    }

    package func read(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions {
        try await database.perform {
            let snapshot = try collection.snapshot()
            var read = ReadRevisions()
            for document in wanted {
                let known = document.possibleAncestors.map(\.generation).max() ?? 0
                for revision in document.revisions {
                    do {
                        guard let found = try snapshot.document(document.id, revision: revision) else {
                            let absence = DatabaseError(.notFound, "\(database.path) has no such revision.")
                            read.addMissing(revision, of: document, absence)
                            continue
                        }
                        guard try selection.admits(found) else { continue }
                        let history = try snapshot.history(of: document.id, revision: revision)
                        read.carried.append(carry(found, history, known, snapshot))
                    } catch {
                        guard error.isOfOneDocument else { throw error }
                        read.problems.append(ReplicationProblem(document.id, revision, error))
                    }
                }
            }
            return read
        }
    }

    private func carry(
        _ document: Document, _ history: [RevisionID], _ known: UInt64, _ snapshot: CollectionSnapshot
    ) -> CarriedRevision {
        let json: @Sendable () throws -> [UInt8] = {
            Array(
                try snapshot.json(
                    document, with: [.id, .revision, .deletion, .attachments, .md5Digests, .revisions]
                ).utf8)
        }
        return CarriedRevision(
            id: document.id, revision: document.revision, knownGeneration: known,
            content: .stored(document, history: history, json: json)
        ) { name in
            guard let attachment = document.attachments[name],
                let reader = try database.blobReader(attachment)
            else {
                throw DatabaseError(
                    .notFound, "The content of the attachment \(name) is not in \(database.path).")
            }
            return BlobBody(reader)
        }
    }

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
                prepared.append((revision, try prepare(revision)))
            } catch {
                guard error.isOfOneDocument else { throw error }
                problems.append(ReplicationProblem(revision.id, revision.revision, error))
            }
        }
        let (stored, failed) = try await withContents(of: waiting) { revision in
            let contents = try await storeContents(of: revision)
            return .withContents(try prepare(revision), contents)
        }
        problems += failed
        var missing: [CarriedRevision] = []
        for (revision, error) in try await insert(prepared + stored) {
            if (error as? DatabaseError)?.code == .missingStub {
                // Attachments that were expected to be here are not: they come from the source after all.
                missing.append(revision)
            } else {
                problems.append(ReplicationProblem(revision.id, revision.revision, error))
            }
        }
        let (whole, lost) = try await withContents(of: missing) { .incoming(try await fetchAll(of: $0)) }
        problems += lost
        for (revision, error) in try await insert(whole) {
            problems.append(ReplicationProblem(revision.id, revision.revision, error))
        }
        return problems
    }

    /// Revisions made ready by `prepare`, which stores their attachments, several at a time; and those that can't be.
    private func withContents(
        of revisions: [CarriedRevision],
        _ prepare: @escaping @Sendable (CarriedRevision) async throws -> Prepared
    ) async throws -> (prepared: [(CarriedRevision, Prepared)], problems: [ReplicationProblem]) {
        let results = try await concurrently(revisions, limit: Self.parallelContents) {
            revision -> Result<Prepared, ReplicationProblem> in
            do {
                return .success(try await prepare(revision))
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
                    switch content.revision {
                    case .stored(let document, let history):
                        try pass(document.id, document.value, document.isDeleted, history, batch)
                        try batch.insert(document, history: history, in: collection)
                    case .incoming(let document):
                        try pass(revision.id, document.value, document.isDeleted, document.history, batch)
                        try batch.insert(document, id: revision.id, in: collection)
                    case .withContents: break
                    }
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
        _ batch: WriteBatch
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
        let stream = try await revision.attachment(name)
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

    // MARK: Checkpoints

    package func checkpoint(_ id: String) async throws -> Checkpoint? {
        try await database.perform {
            guard let local = try collection.local(id) else { return nil }
            return Checkpoint(local)
        }
    }

    package func save(_ checkpoint: Checkpoint, as id: String) async throws {
        try await database.write { batch in
            _ = try batch.saveLocal(checkpoint, name: id, in: collection)
        }
    }
}

extension CollectionSnapshot {
    /// The sequence that `position` stands for here: 0 for one of another history.
    fileprivate func sequence(of position: SourcePosition?) -> UInt64 {
        guard let text = position?.json.dropFirst().dropLast() else { return 0 }
        let parts = text.split(separator: "-")
        guard parts.count == 2, let sequence = UInt64(parts[0]), parts[1] == String(epoch, radix: 16),
            sequence <= lastSequence
        else { return 0 }
        return sequence
    }

    fileprivate func position(at sequence: UInt64) -> SourcePosition {
        SourcePosition(json: "\"\(sequence)-\(String(epoch, radix: 16))\"")
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

/// The content of a blob, read as it is asked for.
private actor BlobBody: BodyStream {
    private let reader: BlobReader

    init(_ reader: sending BlobReader) { self.reader = reader }

    func next() throws -> [UInt8]? {
        let bytes = unsafe try [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
            count = unsafe try reader.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        return bytes.isEmpty ? nil : bytes
    }
}
