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
public struct Row: Sendable {
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
                underlying: error)
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

extension Row: Equatable {
    /// Whether both have the same values in the same columns.
    public static func == (left: Self, right: Self) -> Bool {
        (left.columns === right.columns || left.columns.keys == right.columns.keys)
            && left.document == right.document
    }
}

extension Row: CustomStringConvertible {
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
