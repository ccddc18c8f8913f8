import RoostWire

/// The functions of design documents.
enum DesignRoutes {
    static func respond(
        _ target: DatabaseContext, _ id: String, _ path: [String]
    ) async throws -> HTTPResponse {
        switch path[0] {
        case "_view": return try await ViewRoutes.respond(target, id, Array(path.dropFirst()))
        case "_info": return try await ViewRoutes.information(target, id)
        case "_show", "_list", "_update", "_rewrite", "_search", "_search_info", "_nouveau", "_nouveau_info":
            throw HTTPFailure.notImplemented("\(path[0]) of a design document")
        default: throw HTTPFailure.missing
        }
    }
}
