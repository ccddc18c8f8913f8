import Fleece
import Roost
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
