import Fleece
import Roost
import RoostCrypto
import RoostQuery
import RoostSync
import RoostWire

/// The filters by which a replication that the server runs chooses documents of one of its own databases: those that `_changes` has for
/// administrators.
enum ReplicationFilters {
    /// - Parameter database: The database's name.
    static func make(of database: String, _ hooks: Hooks) -> LocalFilters {
        { filter, collection in
            switch filter {
            case .selector(let json): try selector(json, collection)
            case .named(let name, let parameters): try named(name, parameters, database, collection, hooks)
            }
        }
    }

    private static func selector(
        _ json: String, _ collection: DocumentCollection
    ) throws -> ReplicationFilter {
        let filter = try MangoFilter(DocumentValue(json: json), of: collection)
        // The selector itself tells replications apart.
        return ReplicationFilter("_selector", version: "") { document in
            try filter.matches(document, at: collection.snapshot())
        }
    }

    private static func named(
        _ name: String, _ parameters: [String: String], _ database: String, _ collection: DocumentCollection,
        _ hooks: Hooks
    ) throws -> ReplicationFilter {
        if let function = hooks.filter(name) {
            return ReplicationFilter(name, version: "") { document in
                let examined = ExaminedDocument(
                    id: document.id, isDeleted: document.isDeleted, properties: document.properties)
                return function(examined, { parameters[$0] }, .admin)
            }
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let design = try collection.document("_design/\(parts[0])"),
            let text = design["filters"][parts[1]].string, let language = hooks.language(of: design)
        else {
            throw DatabaseError(.invalidQuery, "There is no filter \(name) in the database \(database).")
        }
        let request: JSON = [
            "query": .object(parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }),
            "userCtx": UserContext.admin.json(in: database), "headers": [:], "form": [:], "cookie": [:],
            "method": "GET", "body": "undefined",
        ]
        let version = RandomText.text(Array(SHA256.hash(Array(text.utf8)).bytes.prefix(16)))
        return ReplicationFilter(name, version: version) { document in
            let text = try collection.snapshot().jsonBytes(
                document, with: [.id, .revision, .deletion, .attachments, .md5Digests, .revisions])
            return try language.filter(
                parts[1], of: design, in: collection, [text], request: request.bytes)[0]
        }
    }
}
