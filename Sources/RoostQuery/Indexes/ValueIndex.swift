import Fleece
import Foundation
import Roost
import RoostIndex

/// An index of values that the documents of a collection have: what it is of.
public struct ValueIndex: Sendable, Hashable, Codable {
    /// Its name, unique in the collection.
    public var name: String
    /// The expressions that its rows are ordered by, in SQL++, each with `DESC` where it goes down: `stars DESC, title`.
    /// Empty with ``unnesting`` for the elements themselves.
    public var columns: String
    /// Expressions whose values its rows have as well, in SQL++, so that queries for nothing else read no documents.
    public var including: String?
    /// Up to three expressions whose numbers are added up, counted and compared within the index, so that their sum, average,
    /// least and greatest over any range of rows are known without reading these. They are included, too.
    public var summing: String?
    /// The condition, in SQL++, that documents in the index meet; `nil` for all of them.
    public var condition: String?
    /// The path of an array, each element of which has a row of its own; `columns` are paths within an element then.
    public var unnesting: String?
    /// In place of ``condition``, a Mango selector in JSON.
    package var selector: String?

    /// The description of an index.
    public init(
        _ name: String, on columns: String = "", including: String? = nil, summing: String? = nil,
        where condition: String? = nil, unnesting: String? = nil
    ) {
        self.name = name
        self.columns = columns
        self.including = including
        self.summing = summing
        self.condition = condition
        self.unnesting = unnesting
    }
    /// Whether both say the same, byte by byte.
    public static func == (left: Self, right: Self) -> Bool { left.texts == right.texts }

    /// Hashes all that it says.
    public func hash(into hasher: inout Hasher) { hasher.combine(texts) }

    private var texts: [ByteKey?] {
        [name, columns, including, summing, condition, unnesting, selector].map { $0.map { ByteKey($0) } }
    }
}

// MARK: - Indexes

extension DocumentCollection {
    /// Makes an index, so that queries with conditions on its expressions, or in its order, read few documents.
    ///
    /// ```swift
    /// try notes.createIndex("by-stars", on: "stars DESC, title COLLATE NOCASE")
    /// try notes.createIndex("open", on: "due", where: "done = false")
    /// try notes.createIndex("tags", unnesting: "tags")
    /// try sales.createIndex("by-day", on: "day", including: "customer", summing: "amount")
    /// ```
    ///
    /// Builds it beside everything else that goes on, and returns when it can be used. The same index twice does nothing;
    /// another one of the same name takes its place. Queries choose their indexes themselves: ``DatabaseQuery/explain()`` tells which.
    ///
    /// - Parameters:
    ///   - name: unique in the collection, 1 to 200 bytes.
    ///   - columns: what it is on: see ``ValueIndex/columns``.
    ///   - including: what its rows have besides: see ``ValueIndex/including``.
    ///   - summing: what is summed up in it: see ``ValueIndex/summing``.
    ///   - condition: what documents in it meet. It serves queries that have the same condition.
    ///   - unnesting: an array with a row for each element, for `ANY … IN … SATISFIES` and `array_contains`.
    /// - Throws: `invalidQuery` for expressions that are malformed, `invalidName`, `readOnly`; `cancelled` when the task was
    ///   cancelled while it was built, which goes on when it is next used.
    public func createIndex(
        _ name: String, on columns: String = "", including: String? = nil, summing: String? = nil,
        where condition: String? = nil, unnesting: String? = nil
    ) throws(DatabaseError) {
        try create(
            ValueIndex(
                name, on: columns, including: including, summing: summing, where: condition,
                unnesting: unnesting))
    }

    /// As ``createIndex(_:on:including:summing:where:unnesting:)``, by a description.
    func create(_ index: ValueIndex) throws(DatabaseError) {
        let name = index.name
        guard (1...200).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw DatabaseError(.invalidName, "The name of an index has 1 to 200 bytes, none of them 0.")
        }
        let compiled: CompiledIndex
        do throws(QueryError) {
            compiled = try CompiledIndex(index)
        } catch {
            throw DatabaseError(
                .invalidQuery, "The index \(name.debugDescription): \(error.message)", underlyingError: error)
        }
        if try IndexList<ValueIndex>(of: try snapshot()).indexes[name] != index {
            try IndexList<ValueIndex>.change(in: self) { $0[name] = index }
        }
        try derived { () throws in
            let indexes = try self.indexes
            indexes.define(compiled.definition)
            try indexes.update(self, building: .one(compiled.definition.name))
        }
    }

    /// Drops an index, and gives its space back. One that there is not is fine.
    public func dropIndex(_ name: String) throws(DatabaseError) {
        guard let index = try IndexList<ValueIndex>(of: try snapshot()).indexes[name] else { return }
        try IndexList<ValueIndex>.change(in: self) { _ = $0.removeValue(forKey: name) }
        guard let compiled = try? CompiledIndex(index) else { return }
        try derived { () throws in try self.indexes.drop(compiled.definition.name) }
    }

    /// The collection's indexes, by name.
    public func valueIndexes() throws(DatabaseError) -> [ValueIndex] {
        try IndexList<ValueIndex>(of: try snapshot()).indexes.values
    }

    /// Runs a call to the derived data and gives its failure the database's face.
    private func derived(_ body: () throws -> Void) throws(DatabaseError) {
        do { try body() } catch { throw DatabaseError(derived: error) }
    }
}

extension DatabaseError {
    /// What a failure of an index means.
    init(derived error: any Error) {
        if let error = error as? DatabaseError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled, "The task was cancelled while an index was brought up to date.")
        } else {
            self.init(.inputOutput, "An index can't be used. \(error.sentence)", underlyingError: error)
        }
    }
}

// MARK: - Index list

/// The indexes of one kind that a collection is to have, as they are kept in its metadata: a JSON object, by name.
///
/// Names are the same when their bytes are.
struct IndexList<Index: ListedIndex>: Sendable {
    var indexes = NamedValues<Index>()

    init(of snapshot: CollectionSnapshot) throws(DatabaseError) {
        try self.init(try snapshot.metadata(Index.metadataName))
    }

    init(_ bytes: [UInt8]?) throws(DatabaseError) {
        guard let bytes, !bytes.isEmpty else { return }
        do {
            for (name, index) in try FleeceDocument(json: bytes).root.dictionary ?? .empty {
                indexes[name] = try JSONDecoder().decode(Index.self, from: Data(index.json().utf8))
            }
        } catch {
            throw DatabaseError(
                .damaged,
                "The list of the collection's \(Index.plural) can't be read. Remove its metadata \"\(Index.metadataName)\".",
                underlyingError: error)
        }
    }

    /// Changes the list that `collection` has, also while other processes change it.
    static func change(
        in collection: DocumentCollection, _ body: (inout NamedValues<Index>) -> Void
    ) throws(DatabaseError) {
        do {
            try collection.database.write { batch in
                var list = try Self(try batch.metadata(Index.metadataName, in: collection))
                body(&list.indexes)
                try batch.setMetadata(try list.encoded, name: Index.metadataName, in: collection)
            }
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    private var encoded: [UInt8] {
        get throws(DatabaseError) {
            var members: [String] = []
            for (name, index) in indexes {
                members.append("\(try DocumentValue.string(name).json()):\(try Self.json(index))")
            }
            return Array("{\(members.joined(separator: ","))}".utf8)
        }
    }

    private static func json(_ index: Index) throws(DatabaseError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return String(decoding: try encoder.encode(index), as: UTF8.self)
        } catch {
            throw DatabaseError(
                .invalidQuery, "The index \(index.name.debugDescription) can't be kept.",
                underlyingError: error)
        }
    }
}

/// The description of an index that is kept in a list.
protocol ListedIndex: Codable, Sendable {
    var name: String { get }
    /// The collection's metadata that the list is.
    static var metadataName: String { get }
    static var plural: String { get }
}

extension ValueIndex: ListedIndex {
    static let metadataName = "indexes"
    static let plural = "indexes"
}

extension TextIndex: ListedIndex {
    static let metadataName = "text-indexes"
    static let plural = "full-text indexes"
}
