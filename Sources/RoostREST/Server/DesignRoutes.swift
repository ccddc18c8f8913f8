import RoostWire

/// The functions of design documents.
enum DesignRoutes {
    static func respond(_ target: DatabaseContext, _ id: String, _ path: [String]) throws -> HTTPResponse {
        switch path[0] {
        case "_view", "_info", "_show", "_list", "_update", "_rewrite", "_search", "_nouveau":
            throw HTTPFailure.notImplemented("\(path[0]) of a design document")
        default: throw HTTPFailure.missing
        }
    }
}
