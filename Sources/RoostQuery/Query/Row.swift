import Fleece
import Roost

/// A row of a query's answer: an immutable value.
///
/// ```swift
/// row["title"].string       // a column by its name
/// row[0].string             // by its place
/// row.stars.int             // by its name, as a member
/// row.json()                // {"title":"Swifts","stars":4}
/// try row.decode(Top.self)
/// ```
///
/// A column without a value, because a document lacks the property, is `FleeceValue.undefined`.
@dynamicMemberLookup
public struct ResultRow: Sendable {
    private let document: FleeceDocument
    private let columns: ColumnNames

    init(_ document: FleeceDocument, _ columns: ColumnNames) {
        self.document = document
        self.columns = columns
    }

    /// The names of the columns, in order.
    public var columnNames: [String] { columns.names }

    /// How many columns there are.
    public var count: Int { columns.names.count }

    /// The value of a column; undefined where there is none of that name.
    public subscript(name: String) -> FleeceValue {
        columns.numbers[ByteKey(name)].map { document[$0] } ?? .undefined
    }

    /// The value of a column by its place, counted from 0.
    public subscript(index: Int) -> FleeceValue { document[index] }

    /// The value of a column, by its name as a member.
    public subscript(dynamicMember name: String) -> FleeceValue { self[name] }

    /// The row as a JSON object without the columns that have no value; of SELECT VALUE the value itself.
    public func json(_ format: JSONFormat = .compact) -> String {
        guard columns.isRaw else { return object.root.json(format) }
        return document[0].exists ? document[0].json(format) : "null"
    }

    /// What the row is decoded from.
    private var content: FleeceValue { columns.isRaw ? document[0] : object.root }

    /// The row decoded as a `T`, from the columns by name; of SELECT VALUE the value.
    ///
    /// - Throws: `decodingFailed`, with the reason as the underlying error.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(DatabaseError) -> T {
        do {
            return try FleeceDecoder().decode(type, from: content)
        } catch {
            throw DatabaseError(
                .decodingFailed, "A row of the answer cannot be read as a \(type). \(error.sentence)",
                underlyingError: error)
        }
    }

    /// The columns as a dictionary.
    var object: FleeceDocument {
        var writer = FleeceWriter(capacity: document.bytes.count * 2, wrapping: 1)
        writer.beginDictionary()
        for (index, name) in columns.names.enumerated() {
            let value = document[index]
            guard value.exists else { continue }
            writer.key(name)
            writer.write(value)
        }
        writer.endDictionary()
        guard let bytes = try? writer.finish() else {
            preconditionFailure("a row that was written can be written")
        }
        return FleeceDocument(trusting: bytes)
    }
}

extension ResultRow: Equatable {
    /// Whether both have the same values in the same columns.
    public static func == (left: Self, right: Self) -> Bool {
        (left.columns === right.columns || left.columns.keys == right.columns.keys)
            && left.document == right.document
    }
}

extension ResultRow: CustomStringConvertible {
    /// The row as JSON.
    public var description: String { json() }
}

/// The names of a query's columns, shared by all its rows.
final class ColumnNames: Sendable {
    let names: [String]
    let numbers: [ByteKey: Int]
    /// Which columns stand for all properties of a document or an object.
    let areStars: [Bool]
    /// Whether a row is the value of its only column.
    let isRaw: Bool

    init(_ names: [String], areStars: [Bool], isRaw: Bool) {
        self.names = names
        self.areStars = areStars
        self.isRaw = isRaw
        numbers = Dictionary(names.enumerated().map { (ByteKey($1), $0) }) { first, _ in first }
    }

    var keys: [ByteKey] { names.map { ByteKey($0) } }
}

// MARK: - Spread rows

/// The rows of a query as tables show them: a column that `*` stands for has each property of its documents as a column of its own, as in
/// SQLite and DuckDB. Rows themselves have the document in one column, as in Couchbase Lite.
///
/// A property is called by its name; by that of its source and its own, `notes.title`, where the query has several such columns or another
/// column of its name.
package struct SpreadRows {
    private let columns: ColumnNames
    private let isPrefixed: Bool
    /// The names of the columns that are as the query has them.
    private let plainNames: Set<ByteKey>

    /// `nil` for a query that has nothing to spread.
    package init?(_ query: DatabaseQuery) {
        columns = query.prepared.columns
        guard columns.areStars.contains(true) else { return nil }
        isPrefixed = columns.areStars.count { $0 } > 1
        plainNames = Set(zip(columns.names, columns.areStars).filter { !$1 }.map { ByteKey($0.0) })
    }

    /// The names and values of a row, in order; those that have no value are not among them.
    package func values(of row: ResultRow) -> [(name: String, value: FleeceValue)] {
        var values: [(name: String, value: FleeceValue)] = []
        for (place, isStar) in columns.areStars.enumerated() {
            let (name, value) = (columns.names[place], row[place])
            guard value.exists else { continue }
            guard isStar, let properties = value.dictionary else {
                values.append((name, value))
                continue
            }
            for (property, value) in properties {
                let isTaken = isPrefixed || plainNames.contains(ByteKey(property))
                values.append((isTaken ? "\(name).\(property)" : property, value))
            }
        }
        return values
    }

    /// A row as a JSON object.
    package func json(of row: ResultRow) -> String {
        var writer = FleeceWriter(capacity: 256)
        writer.beginDictionary()
        for (name, value) in values(of: row) {
            writer.key(name)
            writer.write(value)
        }
        writer.endDictionary()
        guard let bytes = try? writer.finish() else {
            preconditionFailure("what a row has can be written")
        }
        return FleeceDocument(trusting: bytes).root.json()
    }

    /// The columns of all rows: those of the query, and the properties of each row in the order in which they were met.
    package struct Columns {
        /// More columns are no table.
        package static let most = 4096
        package private(set) var names: [String] = []
        private var places: [ByteKey: Int] = [:]

        package init() {}

        /// Adds the names of a row that are new.
        ///
        /// - Throws: `limitExceeded` for more than ``most``.
        package mutating func add(_ values: [(name: String, value: FleeceValue)]) throws(DatabaseError) {
            for (name, _) in values where places[ByteKey(name)] == nil {
                guard names.count < Self.most else {
                    throw DatabaseError(
                        .limitExceeded,
                        "The documents that * stands for have more than \(Self.most) different properties. Name those that are wanted."
                    )
                }
                places[ByteKey(name)] = names.count
                names.append(name)
            }
        }

        /// The values of a row by their columns; undefined where it has none.
        package func values(_ values: [(name: String, value: FleeceValue)]) -> [FleeceValue] {
            var row = [FleeceValue](repeating: .undefined, count: names.count)
            for (name, value) in values { if let place = places[ByteKey(name)] { row[place] = value } }
            return row
        }
    }
}
