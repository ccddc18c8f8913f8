import Fleece
import Roost
import RoostWire

/// A collection of a database in this process.
package struct DatabasePeer: ReplicationPeer {
    let collection: DocumentCollection
    let gate: ReplicationGate?
    private let filters: LocalFilters?
    var database: Database { collection.database }

    /// The most bytes that are taken of an attachment from elsewhere.
    let longestAttachment: UInt64

    /// - Parameters:
    ///   - gate: What revisions that are stored here must pass.
    ///   - filters: Makes the filters of a server whose database it is; `nil` where it is none's.
    package init(
        _ collection: DocumentCollection, longestAttachment: UInt64, gate: ReplicationGate? = nil,
        filters: LocalFilters? = nil
    ) {
        self.collection = collection
        self.longestAttachment = longestAttachment
        self.gate = gate
        self.filters = filters
    }

    package func identity() -> String { "\(database.privateUUID)/\(collection)" }

    package func filterCode(_ selection: ReplicationSelection) throws -> String? {
        try serverFilter(selection)?.version
    }

    private func serverFilter(_ selection: ReplicationSelection) throws -> ReplicationFilter? {
        guard let filter = selection.serverFilter else { return nil }
        guard let filters else {
            throw DatabaseError(
                .invalidQuery,
                "The database at \(database.path) has no filters of a server's. Give a function instead.")
        }
        return try filters(filter, collection)
    }

    // MARK: Changes

    package func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch {
        try await database.perform {
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
            let serverFilter = try serverFilter(selection)
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
                        guard try selection.admits(found), try serverFilter.admits(found) else { continue }
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

    // MARK: Checkpoints

    package func checkpoint(_ id: String) async throws -> Checkpoint? {
        try await database.perform {
            guard let local = try collection.localDocument(id) else { return nil }
            return Checkpoint(local)
        }
    }

    package func save(_ checkpoint: Checkpoint, as id: String) async throws {
        try await database.write { batch in
            _ = try batch.saveLocalDocument(checkpoint, name: id, in: collection)
        }
    }
}

extension CollectionSnapshot {
    /// The sequence of `position`; 0 for one of another history.
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

/// The content of a blob, read on demand.
actor BlobBody: BodyStream {
    private let reader: BlobReader

    init(_ reader: sending BlobReader) { self.reader = reader }

    func next() throws -> [UInt8]? {
        let bytes = unsafe try [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
            count = unsafe try reader.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        return bytes.isEmpty ? nil : bytes
    }
}
