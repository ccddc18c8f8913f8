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
/// Rows are kept in order of their keys, beside the database, and are updated when they are read. The function has to be
/// given again whenever the program starts, as in TouchDB; the version says whether it is still the same.
public struct MapReduceView<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    let core: ViewCore

    /// A view whose rows are kept in the database's directory.
    ///
    /// - Parameters:
    ///   - name: names the view among those of its collection, in up to 900 bytes.
    ///   - version: change it when the function changes: rows of another version are thrown away and rebuilt.
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

// MARK: - View error

/// Why a view can't answer.
public struct ViewError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of error it is.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The code's name.
        public let rawValue: String

        /// A code of that name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Parameters that don't go together, or have no such values.
        public static let invalidParameters = Self(rawValue: "invalidParameters")
        /// Values that the view's reduction can't reduce.
        public static let notReducible = Self(rawValue: "notReducible")
        /// There is no such view or design document.
        public static let notFound = Self(rawValue: "notFound")
        /// A view of a design document that is written wrongly.
        public static let invalidView = Self(rawValue: "invalidView")
        /// A view of a design document in a language that has no compiler here.
        public static let unsupportedLanguage = Self(rawValue: "unsupportedLanguage")
    }

    /// What kind of error it is.
    public let code: Code
    /// A sentence for people that ends in what to do.
    public let message: String

    /// An error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

// MARK: - View query

/// Which rows of a view to read, and how: the parameters of CouchDB's views.
///
/// With `isDescending` everything goes backwards: ``start`` is the greatest key then.
public struct ViewQuery: Sendable {
    /// The first key; `nil` for the first there is. `startkey`.
    public var start: FleeceValue?
    /// Among rows of the key ``start``, or of each of ``keys``, the first document. `startkey_docid`.
    public var startID: String?
    /// The last key; `nil` for the last there is. `endkey`.
    public var end: FleeceValue?
    /// Among rows of the key ``end``, or of each of ``keys``, the last document. `endkey_docid`.
    public var endID: String?
    /// Whether rows of the key ``end``, or of ``keys``, belong to the range; with ``endID`` only its document's do not. Default: true.
    /// `inclusive_end`.
    public var includesEnd = true
    /// Only rows of these keys, in the order of this list, or the opposite one with ``isDescending``; groups come in the order of the list
    /// either way. A key that is in the list twice gives its rows twice. `keys`, or `key`.
    public var keys: [FleeceValue]?
    /// Whether to go from the greatest key to the least. Default: false.
    public var isDescending = false
    /// How many rows, or groups, to pass over. O(log n) for rows.
    public var skip = 0
    /// How many rows, or groups, to read at most.
    public var limit = Int.max
    /// Whether to read each row's document too, or the one that its value names as `{"_id": …}`. `include_docs`.
    public var includesDocuments = false
    /// Whether to tell, of each document that is read, which revisions are in conflict with it. `conflicts`; without
    /// ``includesDocuments`` it means nothing.
    public var includesConflicts = false
    /// Whether the place of the rows in the view matters. With `false`, ``ViewRows/totalRows`` and ``ViewRows/offset`` are 0
    /// and not looked for, and CouchDB's replies leave them out; rows are in order all the same. Default: true. `sorted`.
    public var isSorted = true
    /// Whether to reduce. Default: `nil`, if the view has a reduction. `reduce`.
    public var reduces: Bool?
    /// What is reduced together. Default: all rows. `group`, `group_level`.
    public var grouping = Grouping.all
    /// Which moment to show. Default: the present. `update`, `stale`.
    public var update = Update.now

    /// What is reduced together.
    public enum Grouping: Sendable, Hashable {
        /// All rows of the range.
        case all
        /// Rows of equal keys. `group=true`.
        case exact
        /// Rows of keys whose first so many elements are equal, where keys are arrays; rows of equal keys otherwise.
        /// `group_level`.
        case level(Int)
    }

    /// Which moment a view shows.
    public enum Update: Sendable, Hashable {
        /// The present: what has changed is updated first. `update=true`.
        case now
        /// As it was updated last, without waiting; no rows if it never was. What changed since is shown where it is little, so
        /// that nobody sees less than before. `update=false`, `stale=ok`.
        case never
        /// As with ``never``, and it is updated afterwards. `update=lazy`, `stale=update_after`.
        case later
    }

    /// All rows, or all of them reduced.
    public init() {}

    /// Whether a view that has a reduction, or none, is to be reduced.
    func isReduced(_ hasReduction: Bool) throws(ViewError) -> Bool {
        let isReduced = reduces ?? hasReduction
        guard !isReduced || hasReduction else {
            throw ViewError(
                .invalidParameters, "The view has no reduction. Ask for its rows, with reduce=false.")
        }
        return isReduced
    }

    /// - Throws: ``ViewError/Code/invalidParameters`` for parameters that don't go together.
    func check(hasReduction: Bool) throws(ViewError) {
        let isReduced = try isReduced(hasReduction)
        guard skip >= 0, limit >= 0 else {
            throw ViewError(.invalidParameters, "skip and limit are 0 or more.")
        }
        if case .level(let level) = grouping, level < 0 {
            throw ViewError(.invalidParameters, "group_level is 0 or more.")
        }
        guard isReduced || grouping == .all || grouping == .level(0) else {
            throw ViewError(
                .invalidParameters, "Only a reduced view has groups. Leave group and group_level out.")
        }
        guard !isReduced || !includesDocuments else {
            throw ViewError(.invalidParameters, "A reduced view has no documents. Leave include_docs out.")
        }
        guard let keys else { return }
        guard start == nil, end == nil else {
            throw ViewError(.invalidParameters, "keys can't be combined with startkey and endkey.")
        }
        guard !isReduced || grouping == .exact || keys.count == 1 else {
            throw ViewError(.invalidParameters, "Several keys are reduced only with group=true.")
        }
    }
}

// MARK: - View rows

/// A row of a view.
public struct ViewRow<Key: Sendable, Value: Sendable>: Sendable {
    /// The document that the row was emitted for.
    public let id: String
    /// The key.
    public let key: Key
    /// The value.
    public let value: Value
    /// The document, if documents were requested: the one that the value names, or the row's own; `nil` where that is deleted.
    public let document: Document?
    /// The revisions that are in conflict with the document's, if conflicts were requested.
    public let conflicts: [RevisionID]
}

extension ViewRow: Equatable where Key: Equatable, Value: Equatable {
    /// Whether all parts are equal, documents by their revisions.
    public static func == (a: Self, b: Self) -> Bool {
        a.id == b.id && a.key == b.key && a.value == b.value && a.document?.revision == b.document?.revision
            && a.conflicts == b.conflicts
    }
}

/// Rows of a view as of one moment.
public struct ViewRows<Key: Sendable, Value: Sendable>: Sendable, RandomAccessCollection {
    /// The rows, in their order.
    public let rows: [ViewRow<Key, Value>]
    /// How many rows the view has in all; 0 where the place of rows was said not to matter.
    public let totalRows: UInt64
    /// How many rows of the view come before these; 0 where they were requested by their keys, or their place was said not
    /// to matter.
    public let offset: UInt64
    /// The collection's update sequence that the rows show.
    public let updateSequence: UInt64
    /// How many rows of the view were passed, those of documents that were omitted among them.
    package let passed: Int
    /// The places of the rows.
    package let places: [RowPlace]
    /// The place of the last row that was passed; `nil` where none was.
    package let lastPlace: RowPlace?

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { rows.count }
    /// The row at a position.
    public subscript(position: Int) -> ViewRow<Key, Value> { rows[position] }
}

extension ViewRows: Equatable where Key: Equatable, Value: Equatable {
    /// Whether the rows and their place are equal; the moment does not count.
    public static func == (a: Self, b: Self) -> Bool {
        a.rows == b.rows && a.totalRows == b.totalRows && a.offset == b.offset
    }
}

/// The result of reducing a group of rows.
public struct ViewGroup: Sendable, Equatable {
    /// The key that the rows have in common; `nil` where all rows were reduced together.
    public let key: FleeceValue?
    /// The result.
    public let value: FleeceValue

    /// The result as a `T`.
    public func value<T: Decodable>(as type: T.Type = T.self) throws -> T {
        try FleeceDecoder().decode(type, from: value)
    }

    /// Whether both have equal keys and values.
    public static func == (a: Self, b: Self) -> Bool {
        a.value == b.value && (a.key ?? .undefined) == (b.key ?? .undefined)
    }
}

/// A row of a view that is read a part at a time: the next part begins after it.
package struct RowPlace: Sendable {
    /// The number of the range among those that the query asks for.
    let range: Int
    /// The row's key in the index.
    let key: [UInt8]
}
