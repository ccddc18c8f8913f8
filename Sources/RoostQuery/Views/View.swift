import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder

/// A function that says under which keys a document is found, and the rows that it makes of all documents of a collection.
///
/// ```swift
/// let byTag = MapReduceView<String, Int>("by-tag", version: "1", reduce: .count) { note, emit in
///     for tag in note["tags"].array ?? .empty {
///         if let tag = tag.string { emit(tag, 1) }
///     }
/// }
/// for row in try notes.view(byTag).rows(from: "sea", to: "sky") { print(row.key, row.id) }
/// ```
///
/// Rows are kept in order of their keys, beside the database, and are brought up when they are read. The function has to be
/// given anew whenever the program starts, as in TouchDB; the version says whether it is still the same.
public struct MapReduceView<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    let core: ViewCore

    /// A view whose rows are kept in the database's directory.
    ///
    /// - Parameters:
    ///   - name: names the view among those of its collection, in up to 900 bytes.
    ///   - version: change it when the function changes: rows of another version are thrown away and made anew.
    ///   - order: how keys are ordered; by default as CouchDB orders them.
    ///   - reduce: what is kept of rows besides, so that counting or summing any range takes no longer than finding it.
    ///   - map: called with each document and a function that adds a row. It may be called from several threads at a time. Keys
    ///     and values that can't be stored, such as numbers that are none, make no rows.
    public init(
        _ name: String, version: String, order: ViewOrder = .couchDB, reduce: ViewReduction? = nil,
        map: @escaping @Sendable (_ document: ViewDocument, _ emit: (Key, Value) -> Void) -> Void
    ) {
        core = ViewCore(
            name: name, identity: "native;\(version)", order: order, reduction: reduce
        ) { documents, emitter in
            for index in documents.indices {
                emitter.begin(index)
                map(documents[index]) { key, value in try? emitter.emit(key, value) }
            }
        }
    }

    init(core: ViewCore) { self.core = core }
}

/// How a view's keys are ordered.
public enum ViewOrder: String, Sendable, Hashable, CaseIterable {
    /// Null, false, true, numbers, strings, arrays, objects; strings as people expect them (Unicode's order).
    case couchDB
    /// Numbers, false, null, true, objects, arrays, strings; strings by their bytes. CouchDB's `"collation": "raw"`.
    case raw

    var collation: Collation { self == .raw ? .raw : .couchDB }
}

/// A view without its types.
struct ViewCore: Sendable {
    let name: String
    let collation: Collation
    let reduction: ViewReduction?
    let definition: IndexDefinition
    /// Whether it is of a design document, of which one row in error is no error of the others.
    private let isOfDesign: Bool
    /// Makes the rows of some documents, design documents among them.
    let mapAny: @Sendable (DocumentPage, CollectionSnapshot) throws -> IndexRows

    /// Hands what it emits for each of some documents to the emitter, in their order.
    typealias MapAll = @Sendable ([ViewDocument], ViewEmitter) throws -> Void

    init(
        name: String, identity: String, order: ViewOrder, reduction: ViewReduction?,
        isOfDesign: Bool = false, includesDesign: Bool = false, showsSequence: Bool = false,
        mapAll: @escaping MapAll
    ) {
        let collation = order.collation
        self.name = name
        self.isOfDesign = isOfDesign
        self.collation = collation
        self.reduction = reduction
        let map: @Sendable (DocumentPage, [Int], CollectionSnapshot) throws -> IndexRows = {
            let (documents, mapped, moment) = ($0, $1, $2)
            let emitter = ViewEmitter(IndexRows(of: documents), mapped: mapped, collation)
            let setting = ViewDocument.Setting(moment, showsSequence: showsSequence)
            try mapAll(mapped.map { ViewDocument(try documents.document($0), setting) }, emitter)
            return emitter.rows
        }
        mapAny = { try map($0, Array(0..<$0.count), $1) }
        definition = IndexDefinition(
            name: "view/\(name)",
            signature: "view-1;\(collation.signature);\(reduction?.name ?? "");\(identity)",
            reduction: reduction?.index
        ) { documents, moment in
            let mapped = (0..<documents.count).filter {
                includesDesign || !documents.id($0).starts(with: "_design/".utf8)
            }
            return try map(documents, mapped, moment)
        }
    }

    /// Whether an error of a row is its value, rather than an error of the reading.
    func tells(_ error: ViewError) -> Bool { isOfDesign && error.code == .notReducible }

    /// The Fleece body of a value.
    static func body<T: Encodable>(of value: T) throws -> [UInt8] { try BodyWriter().body(of: value) }

    /// The Fleece body of a value; of null where there is none.
    static func body(of value: FleeceValue) throws(FleeceError) -> [UInt8] {
        try BodyWriter().body(of: value)
    }
}

/// What a view keeps with a row's key: the length of the key's Fleece body as a varint, that body, and the value's.
enum ViewPayload {
    /// Appends what comes before the body of the value.
    static func begin(_ key: ByteView, in payload: ByteBuffer) { payload.append(prefixed: key) }

    /// The Fleece bodies of the key and the value; empty where bytes are damaged.
    static func parts(_ payload: ByteView) -> (key: ByteView, value: ByteView) {
        var reader = ByteReader(payload)
        guard let length = try? reader.length(limit: payload.count), length <= payload.count - reader.position
        else {
            return (.empty, .empty)
        }
        return (payload.slice(reader.position, length), payload.dropFirst(reader.position + length))
    }

    /// The key and the value; undefined where bytes are damaged.
    static func decode(_ payload: ByteView) -> (key: FleeceValue, value: FleeceValue) {
        let parts = parts(payload)
        return (
            FleeceDocument(trusting: parts.key.array).root, FleeceDocument(trusting: parts.value.array).root
        )
    }
}
