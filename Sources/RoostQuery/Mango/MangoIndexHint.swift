import Roost

/// The index that a request asks for with `use_index`: its design document, and its name where that has several.
struct MangoIndexHint {
    private let design: String
    private let name: String?

    /// The design document's name without `_design/`, and the index's where it is given.
    var names: [String] { [design, name].compactMap(\.self) }

    /// Reads `"design"`, `"design/name"`, `["design"]` or `["design", "name"]`, with or without `_design/`; `nil` for an empty list, and
    /// for null, which ask for none.
    init?(_ value: DocumentValue) throws(QueryError) {
        guard let parts = Self.parts(value), parts.count <= 2 else {
            throw QueryError(
                "use_index is the name of a design document, or an array of that and of an index's name",
                word: "invalid_index_name")
        }
        guard let design = parts.first else { return nil }
        self.design = design.hasPrefix(Self.prefix) ? String(design.dropFirst(Self.prefix.count)) : design
        name = parts.count == 2 ? parts[1] : nil
    }

    private static let prefix = "_design/"

    private static func parts(_ value: DocumentValue) -> [String]? {
        if value.isNull { return [] }
        if let text = value.string {
            let name = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
            return name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        }
        guard let items = value.array?.map(\.string), !items.contains(nil) else { return nil }
        return items.compactMap(\.self)
    }

    /// Whether it is that index.
    func names(_ index: MangoIndex) -> Bool {
        ByteKey(index.design) == ByteKey(Self.prefix + design)
            && name.map { ByteKey($0) == ByteKey(index.name) } ?? true
    }

    /// What CouchDB says of one that was not used.
    var warning: String {
        guard let name else {
            return "_design/\(design) was not used because it does not contain a valid index for this query."
        }
        return "_design/\(design), \(name) was not used because it is not a valid index for this query."
    }

    /// What CouchDB says of one without which the request may not be answered.
    var refusal: String {
        "_design/\(names.joined(separator: ", ")) specified by `use_index` could not be found or it is not suitable."
    }
}
