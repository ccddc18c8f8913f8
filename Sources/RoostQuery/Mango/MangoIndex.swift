import Fleece
import Roost

/// An index of CouchDB's `_index`, as a design document of the language `query` has it.
package struct MangoIndex: Sendable {
    /// The design document's ID.
    package let design: String
    /// Its name in the design document.
    package let name: String
    /// The fields that its rows are ordered by, as the definition names them, with `asc` or `desc`.
    package let fields: [(name: String, direction: String)]
    /// The selector of the documents in it; undefined for all of them.
    package let filter: FleeceValue
    /// The most fields of an index, and of `sort`: a plan takes time that grows faster than their number.
    package static let mostFields = 100

    /// The fields' paths.
    let paths: [[Step]]
    /// The index that serves queries in its place; `nil` for one of what only documents have, and of what can't be looked for. It is
    /// read either way, so it ascends, and so do the IDs of documents of equal fields in it.
    let valueIndex: ValueIndex?

    init?(_ name: String, _ view: FleeceValue, design: String) {
        self.name = name
        self.design = design
        let defined = view["options"]["def"]["fields"].array ?? .empty
        var fields = defined.compactMap { item -> (String, String)? in
            if let name = item.string { return (name, "asc") }
            return item.dictionary?.first.map { ($0.key, $0.value.string ?? "asc") }
        }
        if fields.isEmpty {
            fields = (view["map"]["fields"].dictionary ?? .empty).map { ($0.key, $0.value.string ?? "asc") }
        }
        guard !fields.isEmpty, fields.count <= Self.mostFields else { return nil }
        self.fields = fields
        paths = fields.map { MangoSelector.names($0.0).map(Step.key) }
        filter = MangoViewCompiler.filter(view["map"])
        valueIndex = Self.valueIndex("\(Self.prefix)\(design)/\(name)", paths, filter)
    }

    /// Those of all design documents of a collection.
    static func all(in collection: CollectionSnapshot) throws(DatabaseError) -> [MangoIndex] {
        let cursor = try collection.cursor(DocumentSelection(prefix: "_design/"))
        var indexes: [MangoIndex] = []
        while let document = try cursor.next() {
            guard document["language"].string == MangoViewCompiler.language else { continue }
            for (name, view) in document["views"].dictionary ?? .empty {
                if let index = MangoIndex(name, view, design: document.id) { indexes.append(index) }
            }
        }
        return indexes
    }

    private static func valueIndex(
        _ name: String, _ paths: [[Step]], _ filter: FleeceValue
    ) -> ValueIndex? {
        let isOfProperties = paths.allSatisfy { path in
            MetaField(propertyName: path.names.first ?? "")?.isLookedUp != true
        }
        guard isOfProperties, name.utf8.count <= 200 else { return nil }
        let columns = paths.map { path in
            path.names.map { "`\($0.replacing("`", with: "``"))`" }.joined(separator: ".")
                + " COLLATE UNICODE"
        }
        var index = ValueIndex(name, on: columns.joined(separator: ", "))
        guard filter.exists else { return index }
        index.selector = filter.json()
        return (try? CompiledIndex(index)) == nil ? nil : index
    }

    /// What the names of such value indexes begin with.
    static let prefix = "mango/"
}

extension DocumentCollection {
    /// The Mango indexes of all design documents.
    package func mangoIndexes() throws(DatabaseError) -> [MangoIndex] {
        let (snapshot, moment) = try database.present { SnapshotReaders() }
        return try moment.mangoIndexes(of: self, in: snapshot)
    }

    /// Makes what Mango indexes need to serve queries, also those that were replicated, and drops what is of none any more.
    ///
    /// Takes as long as building the indexes takes.
    package func prepareMangoIndexes() throws(DatabaseError) {
        var wanted: NamedValues<ValueIndex> = [:]
        for index in try mangoIndexes() {
            if let index = index.valueIndex { wanted[index.name] = index }
        }
        for present in try valueIndexes() where present.name.hasPrefix(MangoIndex.prefix) {
            if wanted[present.name] == present {
                wanted[present.name] = nil
            } else if wanted[present.name] == nil {
                try dropIndex(present.name)
            }
        }
        for index in wanted.values {
            try create(index)
        }
    }
}

// MARK: - Mango index hint

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
