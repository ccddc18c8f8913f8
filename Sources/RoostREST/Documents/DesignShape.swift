import Fleece
import RoostQuery
import RoostWire

/// What the members of a design document have to be, as CouchDB has it, so that a mistake is told when the document is saved, and not
/// when it is asked.
enum DesignShape {
    private enum Kind: String {
        case array, boolean, object, string

        init?(_ value: FleeceValue) {
            switch value.kind {
            case .array: self = .array
            case .bool: self = .boolean
            case .dictionary: self = .object
            case .string: self = .string
            default: return nil
            }
        }
    }

    /// - Throws: 400 `invalid_design_doc`.
    static func check(_ design: FleeceValue) throws {
        for name in ["language", "validate_doc_update"] { try require(design[name], name, .string) }
        try require(design["rewrites"], "rewrites", .string, .array)
        for name in ["filters", "lists", "shows", "updates"] {
            try require(design[name], name, .object)
            for (key, function) in design[name].dictionary ?? .empty {
                try require(function, "\(name).\(key)", .object, .string)
            }
        }
        try require(design["options"], "options", .object)
        for name in ["include_design", "local_seq", "partitioned"] {
            try require(design["options"][name], "options.\(name)", .boolean)
        }
        try require(design["views"], "views", .object)
        for (name, view) in design["views"].dictionary ?? .empty {
            try require(view, "views.\(name)", .object)
            if name != "lib" { try check(view, name, design["language"].string ?? "javascript") }
        }
    }

    private static func check(_ view: FleeceValue, _ name: String, _ language: String) throws {
        // In other languages than CouchDB's a map is what it is.
        switch language {
        case "query": try require(view["map"], "views.\(name).map", .object)
        case "javascript", "erlang", "coffeescript": try require(view["map"], "views.\(name).map", .string)
        default: break
        }
        guard view["map"].exists else { throw invalid("View `\(name)` must contain map function") }
        try require(view["reduce"], "views.\(name).reduce", .string)
        if let reduction = view["reduce"].string, reduction.begins(with: "_"),
            ViewReduction.named(in: reduction) == nil
        {
            throw invalid("`\(reduction)` is not a supported reduce function.")
        }
    }

    private static func require(_ value: FleeceValue, _ name: String, _ kinds: Kind...) throws {
        guard value.exists else { return }
        if let kind = Kind(value), kinds.contains(kind) { return }
        let names = kinds.map(\.rawValue).joined(separator: " or ")
        throw invalid("`\(name)` field must have \(names) type")
    }

    private static func invalid(_ reason: String) -> HTTPFailure {
        HTTPFailure(400, "invalid_design_doc", reason)
    }
}
