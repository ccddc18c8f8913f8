import Fleece
import Roost

/// Makes views that are written in expressions of LiteCore's JSON schema, in design documents of the language `roost`:
///
///     {"language": "roost", "views": {"by-tag": {
///         "map": {"where": [">", [".stars"], 3], "unnest": [".tags"], "emit": [{"key": ["?item"], "value": [".stars"]}]},
///         "reduce": "_sum"}}}
///
/// Without `where` all documents make rows, without `unnest` each makes one for each member of `emit`.
struct ExpressionViewCompiler: ViewCompiler {
    let collection: DocumentCollection
    let language = "roost"

    func compile(_ source: ViewSource) throws -> CompiledView {
        let name = "\(source.design.id)/\(source.name)"
        var expressions: [Expression] = []
        func add(_ value: FleeceValue) throws -> Int? {
            guard let value = DocumentValue(value) else { return nil }
            do {
                expressions.append(try JSONQueryParser.expression(value))
            } catch {
                throw ViewError(.invalidView, "The view \(name) has a wrong expression. \(error)")
            }
            return expressions.count - 1
        }
        let condition = try add(source.map["where"])
        let unnested = try add(source.map["unnest"])
        var emitted: [(key: Int, value: Int?)] = []
        for row in source.map["emit"].array ?? .empty {
            guard let key = try add(row["key"]) else {
                throw ViewError(.invalidView, "The view \(name) emits a row without a key.")
            }
            emitted.append((key, try add(row["value"])))
        }
        guard !emitted.isEmpty else {
            throw ViewError(.invalidView, "The view \(name) emits nothing. Give its map an array \"emit\".")
        }
        let program: DocumentExpressions
        do {
            program = try DocumentExpressions(expressions, of: collection)
        } catch {
            throw ViewError(.invalidView, "The view \(name) has a wrong expression. \(error)")
        }
        let rows = emitted
        return CompiledView(reduction: try source.builtInReduction()) { documents in
            var found: [[CompiledView.Row]] = []
            try program.forEach(documents) { values in
                var mine: [CompiledView.Row] = []
                func emit() throws {
                    guard condition.map({ values.holds($0) }) ?? true else { return }
                    for row in rows {
                        mine.append(
                            (
                                try values.stored(row.key),
                                try row.value.map { try values.stored($0) } ?? .undefined
                            ))
                    }
                }
                if let unnested { try values.forEachItem(of: unnested, emit) } else { try emit() }
                found.append(mine)
            }
            return found
        }
    }
}

extension ViewSource {
    /// The built-in reduction that the view names, `nil` for none.
    ///
    /// - Throws: ``ViewError/Code/invalidView`` for something else.
    func builtInReduction() throws -> ViewReduction? {
        guard reduce.exists, !reduce.isNull else { return nil }
        guard let name = reduce.string, let reduction = ViewReduction.builtIn(name) else {
            throw ViewError(
                .invalidView,
                "The view \(design.id)/\(self.name) has the reduction \(reduce), which there is not. Take one such as _count or _sum."
            )
        }
        return reduction
    }
}
