import Roost

/// The index that a request asks for with `use_index`: its design document, and its name where that has several.
struct MangoIndexHint {
    private let design: String
    private let name: String?

    /// Reads `"design"`, `["design"]` or `["design", "name"]`, with or without `_design/`; `nil` for an empty list, which asks for
    /// none.
    init?(_ value: DocumentValue) throws(QueryError) {
        let parts = (value.array ?? [value]).map(\.string)
        guard !parts.isEmpty else { return nil }
        guard parts.count <= 2, let design = parts[0], parts.last != .some(nil) else {
            throw QueryError(
                "use_index is the name of a design document, or an array of that and of an index's name")
        }
        self.design = design.hasPrefix("_design/") ? design : "_design/\(design)"
        name = parts.count == 2 ? parts[1] : nil
    }

    /// Whether it is that index.
    func names(_ index: MangoIndex) -> Bool {
        index.design == design && name.map { $0 == index.name } ?? true
    }
}
