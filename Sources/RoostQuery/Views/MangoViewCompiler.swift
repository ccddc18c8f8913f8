import Fleece

/// Makes views of Mango indexes, which CouchDB keeps as views of the language `query`:
/// `{"map": {"fields": {"a": "asc", "b.c": "asc"}}, "reduce": "_count"}`.
///
/// A document makes one row, an array of the fields' values, if it has them all.
struct MangoViewCompiler: ViewCompiler {
    static let language = "query"
    var language: String { Self.language }

    func compile(_ source: ViewSource) throws -> CompiledView {
        let fields = try Self.fields(source)
        let filter = source.map["partial_filter_selector"]
        guard (filter.dictionary ?? .empty).isEmpty else {
            throw ViewError(
                .unsupportedLanguage,
                "The index \(source.design.id)/\(source.name) has a partial_filter_selector, which views don't have. "
                    + "Use it by a query.")
        }
        return CompiledView(reduction: source.reduce.string.flatMap(ViewReduction.builtIn)) { documents in
            try documents.map { document in
                let values = fields.map { field in field.reduce(document.document.value) { $0[$1] } }
                guard values.allSatisfy(\.exists) else { return [] }
                var writer = FleeceWriter()
                writer.beginArray()
                for value in values { writer.write(value) }
                writer.endArray()
                return [(FleeceDocument(trusting: try writer.finish()).root, .undefined)]
            }
        }
    }

    /// The paths of the fields, in the order that the definition has them in: an object's members are sorted.
    private static func fields(_ source: ViewSource) throws -> [[String]] {
        let defined = source.options["def"]["fields"].array ?? .empty
        var names = defined.compactMap { $0.string ?? $0.dictionary?.first?.key }
        if names.isEmpty { names = source.map["fields"].dictionary?.keys ?? [] }
        guard !names.isEmpty else {
            throw ViewError(.invalidView, "The index \(source.design.id)/\(source.name) names no fields.")
        }
        return names.map(steps)
    }

    /// The steps of a path: members parted by points, where `\.` is a point of a name.
    private static func steps(_ name: String) -> [String] {
        var steps = [""]
        var isEscaped = false
        for character in name {
            if isEscaped || character != "\\" && character != "." {
                steps[steps.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                steps.append("")
            }
        }
        return steps
    }
}
