import Fleece
import Roost
import RoostQuery
import RoostREST

/// Makes views of functions in JavaScript.
struct JavaScriptViews: ViewCompiler {
    let functions: JavaScript
    var language: String { functions.name }

    func compile(_ source: ViewSource) throws -> CompiledView {
        let design = ScriptDesign(text: try source.part, id: source.design.id, in: source.collection)
        let path = ["views", source.name]
        _ = try functions.call("check", path + ["map"], [], design)
        return CompiledView(reduction: try reduction(source, path + ["reduce"], design)) { documents in
            try rows(of: try documents.map { try $0.jsonBytes() }[...], path + ["map"], design)
        }
    }

    /// What a map emits for each of some documents: nothing for one of which the rows can't be kept, as for one that it throws at.
    private func rows(
        of texts: ArraySlice<[UInt8]>, _ path: [String], _ design: ScriptDesign
    ) throws -> [[CompiledView.Row]] {
        do throws(ScriptError) {
            let answer = try functions.answer("map", path, [ScriptRequest.list(Array(texts))], design)
            return (answer.array ?? .empty).map { rows in
                (rows.array ?? .empty).map { ($0[0], $0[1]) }
            }
        } catch {
            switch error {
            case .unstorableAnswer, .tooLargeAnswer:
                guard texts.count > 1 else { return [[]] }
                let middle = texts.startIndex + texts.count / 2
                return try rows(of: texts[..<middle], path, design) + rows(of: texts[middle...], path, design)
            default: throw LanguageError(error, of: path)
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
        _ = try functions.call("check", path, [], design)
        // The function's text is part of what the view's rows are kept by.
        return .fallible(functions.name, version: "2") { rows in
            let keys = rows.map { row in
                ScriptRequest.list([row.key.jsonBytes(), ScriptRequest.string(row.id)])
            }
            return try reduced(
                [
                    ScriptRequest.list(keys), ScriptRequest.list(rows.map { $0.value.jsonBytes() }),
                    Array("false".utf8),
                ], path, design)
        } rereduce: { values in
            try reduced(
                [
                    Array("null".utf8), ScriptRequest.list(values.map { $0.jsonBytes() }),
                    Array("true".utf8),
                ], path, design)
        }
    }

    /// What a reduce function answers; `nil` where it throws, which makes the row null in CouchDB, too.
    private func reduced(
        _ arguments: [[UInt8]], _ path: [String], _ design: ScriptDesign
    ) throws -> FleeceValue? {
        do throws(ScriptError) {
            return try functions.answer("reduce", path, arguments, design)
        } catch {
            if case .thrown = error { return nil }
            throw LanguageError(error, of: path)
        }
    }
}
