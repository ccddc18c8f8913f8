import Fleece
import Roost
import RoostQuery
import RoostREST

/// Makes views of functions in JavaScript.
struct JavaScriptViews: ViewCompiler {
    let functions: JavaScript
    var language: String { functions.name }

    func compile(_ source: ViewSource) throws -> CompiledView {
        let (functions, design) = (functions, ScriptDesign(source.design))
        let path = ["views", source.name]
        _ = try functions.call("check", path + ["map"], [], design)
        return CompiledView(reduction: try reduction(source, path + ["reduce"], design)) { documents in
            let texts = try documents.map { try $0.jsonBytes() }
            let answer = try functions.call("map", path + ["map"], [ScriptRequest.list(texts)], design)
            return (answer.array ?? .empty).map { rows in
                (rows.array ?? .empty).map { ($0[0], $0[1]) }
            }
        }
    }

    /// A built-in reduction, or a function.
    private func reduction(
        _ source: ViewSource, _ path: [String], _ design: ScriptDesign
    ) throws -> ViewReduction? {
        guard let text = source.reduce.string else { return nil }
        if text.hasPrefix("_") {
            guard let known = ViewReduction.named(in: text) else {
                throw ViewError(.invalidView, "There is no built-in reduction \(text).")
            }
            return known
        }
        let functions = functions
        _ = try functions.call("check", path, [], design)
        return .custom("javascript", version: design.key) { rows -> FleeceValue in
            let keys = rows.map { row in
                ScriptRequest.list([row.key.jsonBytes(), ScriptRequest.string(row.id)])
            }
            return try functions.call(
                "reduce", path,
                [
                    ScriptRequest.list(keys), ScriptRequest.list(rows.map { $0.value.jsonBytes() }),
                    Array("false".utf8),
                ], design)
        } rereduce: { values -> FleeceValue in
            try functions.call(
                "reduce", path,
                [
                    Array("null".utf8), ScriptRequest.list(values.map { $0.jsonBytes() }),
                    Array("true".utf8),
                ], design)
        }
    }
}
