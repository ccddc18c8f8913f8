import Fleece
import Roost
import RoostQuery
import RoostREST

/// Functions of design documents that are written in JavaScript: views with `map` and `reduce`, `filters` and
/// `validate_doc_update`, as CouchDB has them.
///
/// ```swift
/// var hooks = Hooks()
/// hooks.languages = [JavaScript(program: ["/usr/local/bin/roost", "run-scripts"])]
/// ```
///
/// Functions see neither files nor network nor clock, and share nothing with any other function, be it of the same design document: not what
/// one does to its globals or to the objects of the language. They are run by the system's JavaScriptCore, in child processes that are killed when a call takes more than ``ScriptLimits``. It may be used from any
/// thread; calls block theirs.
public struct JavaScript: DesignLanguage {
    /// The value of `language`, which design documents may leave out.
    public let name = "javascript"
    private let pool: ScriptPool

    /// - Parameters:
    ///   - program: The path of a program and its arguments, which has to call ``ScriptWorker/run(_:)``. Empty where
    ///     processes can't have children: scripts are run in this one then, one at a time, and what they overrun their time with in
    ///     functions of the library itself, such as a regular expression, can't be ended.
    ///   - limits: What scripts may take.
    ///   - processes: How many of them there may be at a time.
    public init(program: [String], limits: ScriptLimits = ScriptLimits(), processes: Int = 2) {
        pool = ScriptPool(program, limits, processes: max(processes, 1))
    }

    /// Makes views.
    public var viewCompiler: any ViewCompiler { JavaScriptViews(functions: self) }

    /// Compiles the maps and reductions of a design document's views.
    public func check(_ design: FleeceValue) throws {
        let script = ScriptDesign(text: design.jsonBytes())
        for (name, view) in design["views"].dictionary ?? .empty where name != "lib" {
            for kind in ["map", "reduce"] {
                guard let source = view[kind].string, kind == "map" || !source.hasPrefix("_") else {
                    continue
                }
                do throws(ScriptError) {
                    _ = try answer("check", ["views", name, kind], [], script)
                } catch {
                    switch error {
                    case .noLibrary, .broken: throw LanguageError(.unavailable, error.description)
                    default:
                        throw LanguageError(
                            .failed,
                            "Compilation of the \(kind) function in the '\(name)' view failed: \(error)")
                    }
                }
            }
        }
    }

    /// Calls a `validate_doc_update`.
    public func validate(
        _ question: ValidationQuestion, of design: Document, in collection: DocumentCollection
    ) throws -> ValidationFailure? {
        let answer = try call(
            "validate", ["validate_doc_update"],
            [question.new, question.old ?? Array("null".utf8), question.user, question.security],
            ScriptDesign(design, in: collection))
        if let reason = answer["forbidden"].string { return .forbidden(reason) }
        if let reason = answer["unauthorized"].string { return .unauthorized(reason) }
        return nil
    }

    /// Calls a filter for documents.
    public func filter(
        _ name: String, of design: Document, in collection: DocumentCollection, _ documents: [[UInt8]],
        request: [UInt8]
    ) throws -> [Bool] {
        let answer = try call(
            "filter", ["filters", name], [ScriptRequest.list(documents), request],
            ScriptDesign(design, in: collection))
        let verdicts = (answer.array ?? .empty).map { $0.bool ?? false }
        guard verdicts.count == documents.count else { throw ScriptError.broken("answered too little") }
        return verdicts
    }

    /// Makes a sync function of the source of one, as Sync Gateway has them: `function (doc, oldDoc, userCtx, secObj) { … }`, which may
    /// call `channel`, `access`, `role`, `requireUser`, `requireRole` and `requireAccess`, and throw `{forbidden}` or
    /// `{unauthorized}`. `userCtx` has `name`, `roles` and `channels`.
    ///
    /// - Throws: ``LanguageError`` for what is no function.
    public func syncFunction(_ source: String) throws -> SyncFunction {
        let text = Array("{\"sync\":".utf8) + ScriptRequest.string(source) + [UInt8(ascii: "}")]
        _ = try call("check", ["sync"], [], ScriptDesign(text: text))
        return SyncFunction(
            source: source,
            deciding: { question, decision in
                let answer = try call(
                    "sync", ["sync"],
                    [
                        try question.text(), try question.oldText() ?? Array("null".utf8),
                        Self.user(decision, in: question.database),
                        question.security, Array("\(decision.isAdmin)".utf8),
                    ], ScriptDesign(text: text, in: question.collection))
                if let reason = answer["forbidden"].string { throw ValidationFailure.forbidden(reason) }
                if let reason = answer["unauthorized"].string { throw ValidationFailure.unauthorized(reason) }
                decision.channel(Self.names(answer["channels"]))
                for grant in answer["access"].array ?? .empty {
                    decision.access(Self.names(grant[0]), Self.names(grant[1]))
                }
                for grant in answer["roles"].array ?? .empty {
                    decision.role(Self.names(grant[0]), Self.names(grant[1]))
                }
            })
    }

    private static func names(_ value: FleeceValue) -> [String] {
        value.array?.compactMap(\.string) ?? []
    }

    /// Who writes, as JSON.
    private static func user(_ decision: SyncDecision, in database: String) -> [UInt8] {
        let lists = [decision.userRoles, decision.userChannels].map {
            ScriptRequest.list($0.sorted().map(ScriptRequest.string))
        }
        let name = decision.user.name.map(ScriptRequest.string) ?? Array("null".utf8)
        return Array("{\"db\":".utf8) + ScriptRequest.string(database) + Array(",\"name\":".utf8) + name
            + Array(",\"roles\":".utf8) + lists[0] + Array(",\"channels\":".utf8) + lists[1] + Array("}".utf8)
    }

    /// Runs a function.
    ///
    /// - Throws: ``LanguageError``.
    func call(
        _ kind: String, _ path: [String], _ arguments: [[UInt8]], _ design: ScriptDesign
    ) throws -> FleeceValue {
        do throws(ScriptError) {
            return try answer(kind, path, arguments, design)
        } catch {
            throw LanguageError(error, of: path)
        }
    }

    /// As ``call(_:_:_:_:)``, with the errors of scripts.
    func answer(
        _ kind: String, _ path: [String], _ arguments: [[UInt8]], _ design: ScriptDesign
    ) throws(ScriptError) -> FleeceValue {
        let text = try pool.call(design.function(path), ScriptRequest.text(kind, path, arguments))
        guard let answer = try? FleeceDocument(json: text).root else { throw .unstorableAnswer }
        if let reason = answer["error"].string { throw .thrown(reason) }
        return answer["ok"]
    }
}

extension LanguageError {
    /// - Parameter path: Where the function is in its design document.
    init(_ error: ScriptError, of path: [String]) {
        let place = path.joined(separator: ".")
        switch error {
        case .noLibrary: self.init(.unavailable, error.description)
        case .tooLong: self.init(.tooLong, "\(place): \(error)")
        default: self.init(.failed, "\(place): \(error)")
        }
    }
}

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
