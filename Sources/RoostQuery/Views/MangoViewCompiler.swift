import Fleece
import Roost

/// Makes views of Mango indexes, which CouchDB keeps as views of the language `query`:
/// `{"map": {"fields": {"a": "asc", "b.c": "asc"}}, "reduce": "_count"}`.
///
/// A document makes one row, an array of the fields' values, if it has them all and fulfils `partial_filter_selector`.
struct MangoViewCompiler: ViewCompiler {
    let collection: DocumentCollection
    static let language = "query"
    var language: String { Self.language }

    func compile(_ source: ViewSource) throws -> CompiledView {
        let fields = try Self.fields(source)
        let filter = try condition(source)
        return CompiledView(reduction: try source.builtInReduction()) { documents in
            let isWanted = try filter.map { filter in
                var isWanted: [Bool] = []
                try filter.forEach(documents) { isWanted.append($0.holds(0)) }
                return isWanted
            }
            return try documents.enumerated().map { index, document in
                guard isWanted?[index] ?? true else { return [] }
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

    /// The condition that documents of a partial index fulfil; `nil` where the index is not partial.
    private func condition(_ source: ViewSource) throws -> DocumentExpressions? {
        guard let selector = DocumentValue(Self.filter(source.map)) else { return nil }
        do {
            return try DocumentExpressions(
                [try MangoCondition.expression(of: try MangoSelector(selector))], of: collection)
        } catch {
            throw ViewError(
                .invalidView,
                "The index \(source.design.id)/\(source.name) has a wrong partial_filter_selector. \(error)")
        }
    }

    /// The selector of the documents in an index; undefined where all are. Old definitions call it `selector`.
    static func filter(_ map: FleeceValue) -> FleeceValue {
        for name in ["partial_filter_selector", "selector"] where map[name].dictionary?.isEmpty == false {
            return map[name]
        }
        return .undefined
    }

    /// The paths of the fields, in the order that the definition has them in: an object's members are sorted.
    private static func fields(_ source: ViewSource) throws -> [[String]] {
        let defined = source.options["def"]["fields"].array ?? .empty
        var names = defined.compactMap { $0.string ?? $0.dictionary?.first?.key }
        if names.isEmpty { names = source.map["fields"].dictionary?.keys ?? [] }
        guard !names.isEmpty else {
            throw ViewError(.invalidView, "The index \(source.design.id)/\(source.name) names no fields.")
        }
        return names.map(MangoSelector.names)
    }
}
