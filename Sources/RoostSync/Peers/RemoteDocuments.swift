import Fleece
import Roost
import RoostWire

extension RemoteDatabase {
    /// What a server says to a write.
    package enum Written: Sendable {
        case saved
        /// There is another revision.
        case conflict
    }

    /// Makes the database, if there is none.
    ///
    /// - Throws: `RemoteError` for an answer of failure; what the transport throws.
    package func createsIfMissing() async throws {
        do {
            _ = try await peer.client.json(peer.client.put("", "{}"))
        } catch let error as RemoteError where error.status == 412 {}
    }

    /// The present revision of a document, with `_id` and `_rev`; `nil` where there is none.
    ///
    /// - Throws: `RemoteError` for an answer of failure; what the transport throws.
    package func document(_ id: String) async throws -> DocumentValue? {
        try await peer.client.jsonIfFound(peer.client.get(RemoteClient.path(id))).flatMap {
            DocumentValue($0)
        }
    }

    /// Documents whose IDs begin with `prefix`, in the order of the server, read in pages.
    ///
    /// - Throws: `RemoteError` for an answer of failure; what the transport throws.
    package func documents(prefix: String) async throws -> [DocumentValue] {
        var found: [DocumentValue] = []
        var start = prefix
        while true {
            let query =
                "include_docs=true&limit=\(Self.page)&startkey=\(Self.key(start))&endkey=\(Self.key(prefix + "\u{FFF0}"))"
            let answer = try await peer.client.json(peer.client.get("/_all_docs?\(query)"))
            guard let rows = answer["rows"].array else {
                throw peer.client.malformed("it lists no documents")
            }
            // The first of a further page is the last of the one before.
            let new = found.isEmpty ? Array(rows) : Array(rows.dropFirst())
            found += new.compactMap { DocumentValue($0["doc"]) }
            guard rows.count == Self.page, let last = rows.last?["id"].string, !new.isEmpty else {
                return found
            }
            start = last
        }
    }

    private static let page = 1_000

    private static func key(_ id: String) -> String { PercentEncoding.encode("\"\(id)\"") }

    /// Saves a document's JSON, which names the revision that it replaces.
    ///
    /// - Throws: `RemoteError` for an answer of failure other than 409; what the transport throws.
    package func save(_ json: String, id: String) async throws -> Written {
        do {
            _ = try await peer.client.json(peer.client.put(RemoteClient.path(id), json))
            return .saved
        } catch let error as RemoteError where error.status == 409 {
            return .conflict
        }
    }
}
