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
    ) async throws -> [Result<CarriedRevision, ReplicationProblem>] {
        let read = try await concurrently(wanted, limit: Self.atATime) { try await self.read($0, selection) }
        return read.flatMap(\.self)
    }

    private func read(
        _ document: WantedRevisions, _ selection: ReplicationSelection
    ) async throws -> [Result<CarriedRevision, ReplicationProblem>] {
        var carried: [Result<CarriedRevision, ReplicationProblem>] = []
        var rest = document.revisions[...]
        while !rest.isEmpty {
            let asked = rest.prefix(Self.mostRevisions)
            rest = rest.dropFirst(asked.count)
            do {
                for (revision, entry) in try await entries(document.id, Array(asked)) {
                    if let found = try carry(entry, document, revision, selection) { carried.append(found) }
                }
            } catch {
                guard error.isOfOneDocument else { throw error }
                carried += asked.map { .failure(ReplicationProblem(document.id, $0, error)) }
            }
        }
        return carried
    }

    /// What the server says of revisions of a document. It may leave out some and answer in another order.
    private func entries(
        _ id: String, _ asked: [RevisionID]
    ) async throws -> [(RevisionID, FleeceValue)] {
        let list = try DocumentValue.array(asked.map { .string("\($0)") }).json()
        let query = "?revs=true&att_encoding_info=true&open_revs=" + PercentEncoding.encode(list)
        // Else CouchDB answers in parts, with the content of attachments.
        let request = client.get(RemoteClient.path(id) + query, accept: "application/json")
        guard let answers = try await client.json(request).array else {
            throw client.malformed("it answered no list of revisions")
        }
        return try answers.compactMap { entry in
            guard let text = entry["ok"]["_rev"].string else { return nil }
            let revision = try RevisionID(validating: text)
            return asked.contains(revision) ? (revision, entry) : nil
        }
    }
}
