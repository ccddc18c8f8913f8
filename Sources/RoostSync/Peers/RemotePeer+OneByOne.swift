import Fleece
import Roost
import RoostWire

extension RemotePeer {
    /// How many documents are asked for at a time.
    private static let atATime = 8
    /// How many revisions are asked for in one URL, which servers and proxies take up to some thousand bytes of.
    private static let mostRevisions = 50

    /// Reads revisions document by document, from a server without `_bulk_get`.
    func readOneByOne(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions {
        let failures = SharedServerFailures()
        var read = try await concurrently(wanted, limit: Self.atATime) {
            try await self.read($0, selection, failures)
        }.reduce(into: ReadRevisions()) { $0 += $1 }
        read.problems += try failures.problems()
        return read
    }

    private func read(
        _ document: WantedRevisions, _ selection: ReplicationSelection, _ failures: SharedServerFailures,
        atATime most: Int = mostRevisions
    ) async throws -> ReadRevisions {
        var read = ReadRevisions()
        var rest = document.revisions[...]
        while !rest.isEmpty {
            let asked = rest.prefix(most)
            rest = rest.dropFirst(asked.count)
            do {
                let found =
                    asked.count > 1
                    ? try await entries(document.id, Array(asked))
                    : try await failures.run(document.id, asked[asked.startIndex]) {
                        try await entries(document.id, Array(asked))
                    }
                guard let entries = found else { continue }
                for revision in asked {
                    if let entry = entries.first(where: { $0.revision == revision })?.entry {
                        try add(entry, document, revision, selection, to: &read)
                    } else {
                        read.addMissing(revision, of: document, absence)
                    }
                }
            } catch let error as RemoteError where error.isServerFailure && asked.count > 1 {
                // It may fail at one of them.
                let alone = WantedRevisions(
                    id: document.id, revisions: Array(asked), possibleAncestors: document.possibleAncestors)
                read += try await self.read(alone, selection, failures, atATime: 1)
            } catch {
                guard error.isOfOneDocument else { throw error }
                for revision in asked { read.addFailed(revision, of: document, error) }
            }
        }
        return read
    }

    /// The revisions of a document that the server gives. It may leave out some and answer in another order.
    private func entries(
        _ id: String, _ asked: [RevisionID]
    ) async throws -> [(revision: RevisionID, entry: ArraySlice<UInt8>)] {
        let list = try DocumentValue.array(asked.map { .string("\($0)") }).json()
        let query = "?revs=true&att_encoding_info=true&open_revs=" + PercentEncoding.encode(list)
        // Else CouchDB answers in parts, with the content of attachments.
        let request = client.get(RemoteClient.path(id) + query, accept: "application/json")
        guard let answers = JSONParts.elements(of: try await client.bytes(request)[...]) else {
            throw client.malformed("it answered no list of revisions")
        }
        return answers.compactMap { entry in
            guard let document = JSONParts.member("ok", of: entry),
                let name = JSONParts.member("_rev", of: document),
                let text = (try? FleeceDocument(json: name))?.root.string, let revision = RevisionID(text),
                asked.contains(revision)
            else { return nil }
            return (revision, entry)
        }
    }
}
