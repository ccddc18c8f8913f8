import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import Synchronization

/// Makes views of design documents written in a language that Roost does not know, such as JavaScript.
///
/// Register it with `register(_:)`.
public protocol ViewCompiler: Sendable {
    /// The language of design documents that it compiles, as in their property `language`.
    var language: String { get }

    /// Makes a view of its source.
    ///
    /// - Throws: ``ViewError``, such as `invalidView` for a source that is wrong.
    func compile(_ source: ViewSource) throws -> CompiledView
}

/// A view as a design document has it.
public struct ViewSource: Sendable {
    /// The view's name in its design document.
    public let name: String
    /// The property `map`, mostly a text.
    public let map: FleeceValue
    /// The property `reduce`; undefined where there is none.
    public let reduce: FleeceValue
    /// The property `options` of the view, or else of the design document.
    public let options: FleeceValue
    /// The whole design document, for what views may have in common.
    public let design: Document
    /// The collection that the design document is in.
    public let collection: DocumentCollection

    /// What rows may follow from besides the documents, as JSON: the part of the design document that consists of the view, its options and
    /// the libraries `lib` and `views.lib`. Rows are rebuilt when it changes, and functions of the view see nothing else.
    package var part: [UInt8] {
        get throws {
            let views = design["views"]
            var writer = FleeceWriter()
            writer.beginDictionary()
            for (key, value) in [("lib", design["lib"]), ("options", options)] where value.exists {
                writer.key(key)
                writer.write(value)
            }
            writer.key("views")
            writer.beginDictionary()
            for (key, value) in [(name, views[name]), ("lib", views["lib"])] where value.exists {
                writer.key(key)
                writer.write(value)
            }
            writer.endDictionary()
            writer.endDictionary()
            return FleeceDocument(trusting: try writer.finish()).root.jsonBytes()
        }
    }
}

/// A view that was compiled.
public struct CompiledView: Sendable {
    /// A row that a view emits.
    public typealias Row = (key: FleeceValue, value: FleeceValue)
    /// Makes the rows of each of some documents, in their order. May be called from several threads at a time. What it throws
    /// ends the reading that it was called for.
    public typealias Map = @Sendable (_ documents: [ViewDocument]) throws -> [[Row]]

    let map: Map
    let reduction: ViewReduction?

    /// A view of a map and a reduction, `nil` for none.
    public init(reduction: ViewReduction?, map: @escaping Map) {
        self.map = map
        self.reduction = reduction
    }
}

/// The compilers that a database knows.
final class ViewCompilers: Sendable {
    private let compilers = Mutex<[String: any ViewCompiler]>([:])

    subscript(language: String) -> (any ViewCompiler)? {
        get { compilers.withLock { $0[language] } }
        set { compilers.withLock { $0[language] = newValue } }
    }

    static func of(_ database: Database) -> ViewCompilers { database.companion { ViewCompilers() } }
}

extension Database {
    /// Has views of design documents in the compiler's language made by it, for as long as the database is open.
    public func register(_ compiler: any ViewCompiler) {
        ViewCompilers.of(self)[compiler.language] = compiler
    }
}

// MARK: - Mango view compiler

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

// MARK: - Expression view compiler

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

// MARK: - View emitter

/// Makes rows of an index of what a view emits for some documents. Belongs to one thread.
final class ViewEmitter {
    /// What was emitted.
    private(set) var rows: IndexRows
    /// Which of the documents of the rows are mapped.
    private let mapped: [Int]
    private let encoder: KeyEncoder
    private let bodies = BodyWriter()
    /// Of the key.
    private let body = ByteBuffer()
    private let payload = ByteBuffer()

    /// - Parameter mapped: the places, among the documents of `rows`, of those that are mapped.
    init(_ rows: IndexRows, mapped: [Int], _ collation: Collation) {
        self.rows = rows
        self.mapped = mapped
        encoder = KeyEncoder(collation)
    }

    /// Says for which of the mapped documents is emitted next.
    func begin(_ index: Int) { rows.begin(mapped[index]) }

    /// Adds a row; a `FleeceValue` that does not exist is null.
    ///
    /// - Throws: for a key or a value that can't be stored; then there is no row.
    func emit<K: Encodable, V: Encodable>(_ key: K, _ value: V) throws {
        body.reset(keeping: 1 << 16)
        try bodies.write(key, to: body)
        encoder.reset()
        try encoder.append(FleeceNode(root: body.view))
        payload.reset(keeping: 1 << 16)
        ViewPayload.begin(body.view, in: payload)
        try bodies.write(value, to: payload)
        rows.add(encoder.view, payload: payload.view)
    }
}

// MARK: - Body writer

/// Writes the Fleece bodies of values one after another. Not thread-safe; keeps its memory.
final class BodyWriter {
    private var writer = FleeceWriter(capacity: 256)

    /// The body of a value.
    func body<T: Encodable>(of value: T) throws -> [UInt8] {
        let buffer = ByteBuffer()
        try write(value, to: buffer)
        return buffer.view.array
    }

    /// The body of a value; of null where there is none.
    func body(of value: FleeceValue) throws(FleeceError) -> [UInt8] {
        let buffer = ByteBuffer()
        try write(value, to: buffer)
        return buffer.view.array
    }

    /// Appends the body of a value. The plainest types, which most views emit, go without an encoder.
    func write<T: Encodable>(_ value: T, to buffer: ByteBuffer) throws {
        // Of the same type, so that nothing is changed by the cast; `as?` would look for it in tables.
        if T.self == FleeceValue.self {
            try write(unsafe unsafeBitCast(value, to: FleeceValue.self), to: buffer)
        } else if T.self == [FleeceValue].self {
            writer.beginArray()
            for element in unsafe unsafeBitCast(value, to: [FleeceValue].self) { writer.write(element) }
            writer.endArray()
            try writer.finish(to: buffer)
        } else if T.self == String.self {
            writer.write(unsafe unsafeBitCast(value, to: String.self))
            try writer.finish(to: buffer)
        } else if T.self == Int.self {
            writer.write(Int64(unsafe unsafeBitCast(value, to: Int.self)))
            try writer.finish(to: buffer)
        } else {
            buffer.append(try FleeceEncoder().encode(value))
        }
    }

    /// Appends the body of a value; of null where there is none.
    func write(_ value: FleeceValue, to buffer: ByteBuffer) throws(FleeceError) {
        if value.exists { writer.write(value) } else { writer.writeNull() }
        try writer.finish(to: buffer)
    }
}
