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
        guard !fields.isEmpty else { return nil }
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
            path.names.map { "`\($0.replacing("`", with: "``"))`" }.joined(separator: ".") + " COLLATE UNICODE"
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
        let (snapshot, moment) = try database.present { QueryMoment() }
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
