import Fleece
import Roost
import RoostCrypto
import RoostIndex
import RoostOrder

/// Views that are written in design documents, which replicate as all documents do.
///
/// Roost makes those of the languages `query`, Mango indexes, and `roost`, expressions of LiteCore's JSON schema, itself; others
/// need a ``ViewCompiler``.
extension DocumentCollection {
    /// A view of a design document, as it is written now.
    ///
    /// - Parameters:
    ///   - name: The view's name.
    ///   - design: The design document's, with or without `_design/`.
    /// - Throws: ``ViewError`` with `notFound`, `invalidView` or `unsupportedLanguage`; `DatabaseError`.
    public func view(_ name: String, of design: String) throws -> CollectionView<FleeceValue, FleeceValue> {
        let id = Self.designID(design)
        guard let document = try document(id) else {
            throw ViewError(.notFound, "There is no design document \(id).")
        }
        let view = document["views"][name]
        guard view.kind == .dictionary else {
            throw ViewError(.notFound, "\(id) has no view \"\(name)\".")
        }
        return CollectionView(collection: self, core: try core(name, view, document))
    }

    /// The names of the views of a design document, in byte order.
    public func viewNames(of design: String) throws -> [String] {
        try document(Self.designID(design))?["views"].dictionary?.keys.map { ByteKey($0) }.sorted().map(
            \.text)
            ?? []
    }

    /// Throws away what is kept for views of design documents that are there no more, as CouchDB's `_view_cleanup` does.
    ///
    /// - Returns: The names of what was thrown away, as `design/view`.
    @discardableResult
    public func cleanUpViews() throws -> [String] {
        let indexes = try indexes
        var dropped: [String] = []
        for status in try indexes.statuses() where status.name.hasPrefix(Self.prefix) {
            let name = String(status.name.dropFirst(Self.prefix.count))
            let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
            if parts.count == 2,
                try viewNames(of: parts[0]).contains(where: { ByteKey($0) == ByteKey(parts[1]) })
            {
                continue
            }
            try indexes.drop(status.name)
            dropped.append(name)
        }
        return dropped
    }

    private static var prefix: String { "view/_design/" }

    private static func designID(_ name: String) -> String {
        name.hasPrefix("_design/") ? name : "_design/\(name)"
    }

    private func core(_ name: String, _ view: FleeceValue, _ document: Document) throws -> ViewCore {
        let options = view["options"].exists ? view["options"] : document["options"]
        let source = ViewSource(
            name: name, map: view["map"], reduce: view["reduce"], options: options, design: document,
            collection: self)
        let language = document["language"].string ?? "javascript"
        let compiler: any ViewCompiler
        switch language {
        case "query": compiler = MangoViewCompiler(collection: self)
        case "roost": compiler = ExpressionViewCompiler(collection: self)
        default:
            if let known = ViewCompilers.of(database)[language] {
                compiler = known
                break
            }
            throw ViewError(
                .unsupportedLanguage,
                "The view \(document.id)/\(name) is written in \(language), which nothing here compiles. "
                    + "Register a ViewCompiler for it.")
        }
        let compiled = try compiler.compile(source)
        let identity = SHA256.hash(Array("\(language)\n".utf8) + (try source.part)).bytes.prefix(16)
        return ViewCore(
            name: "\(document.id)/\(name)",
            identity: identity.map { String($0, radix: 16) }.joined(separator: "."),
            order: options["collation"].string == "raw" ? .raw : .couchDB,
            reduction: compiled.reduction, isOfDesign: true,
            includesDesign: options["include_design"].bool ?? false,
            showsSequence: options["local_seq"].bool ?? false
        ) { documents, emitter in
            let rows = try compiled.map(documents)
            guard rows.count == documents.count else {
                throw ViewError(
                    .invalidView,
                    "The map of \(document.id)/\(name) answered for \(rows.count) of \(documents.count) documents."
                )
            }
            for (index, rows) in rows.enumerated() {
                emitter.begin(index)
                // Rows of one document with equal keys come in the order of their values, as in CouchDB.
                let ordered =
                    rows.count < 2 ? rows : rows.sorted { Collation.raw.compare($0.value, $1.value) < 0 }
                for row in ordered { try emitter.emit(row.key, row.value) }
            }
        }
    }
}

// MARK: - Design information

/// How the views of a design document stand: what CouchDB's `_info` tells.
package struct DesignInformation: Sendable {
    /// The sequence of the collection up to which all of them were kept; 0 where one was never built.
    package let sequence: UInt64
    /// How many documents have changed since.
    package let pending: UInt64
    /// Whether one is being built.
    package let isUpdating: Bool
    /// How many rows they have.
    package let rows: UInt64
    /// About how many bytes they take.
    package let bytes: UInt64
}

extension DocumentCollection {
    /// How the views of a design document stand.
    package func designInformation(_ design: String) throws -> DesignInformation {
        let snapshot = try snapshot()
        let names = try viewNames(of: design).map { ByteKey("view/\(design)/\($0)") }
        let indexes = try indexes
        let builds = indexes.builds
        let statuses = try indexes.statuses().filter { names.contains(ByteKey($0.name)) && $0.isComplete }
        let sequence = statuses.count < names.count ? 0 : statuses.map(\.sequence).min() ?? 0
        return DesignInformation(
            sequence: sequence, pending: UInt64(clamping: try snapshot.changeCount(since: sequence)),
            isUpdating: names.contains { builds[$0.text] != nil },
            rows: statuses.reduce(0) { $0 + $1.rows }, bytes: statuses.reduce(0) { $0 + $1.bytes })
    }
}

extension CollectionView {
    /// Whether the view emits anything for a document, deleted or a design document or not: CouchDB's filter `_view`.
    package func emits(for document: Document, at snapshot: CollectionSnapshot) throws -> Bool {
        try !core.mapAny(DocumentPage([document]), snapshot).isEmpty
    }
}
