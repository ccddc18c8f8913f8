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

    /// The row as a JSON object; columns without a value are left out.
    public func json(_ format: JSONFormat = .compact) -> String { object.root.json(format) }

    /// The row decoded as a `T`, from the columns by name.
    ///
    /// - Throws: `decodingFailed`, with the reason as the underlying error.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(DatabaseError) -> T {
        do {
            return try FleeceDecoder().decode(type, from: object.root)
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
        left.columns.names == right.columns.names && left.document == right.document
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

    init(_ names: [String]) {
        self.names = names
        numbers = Dictionary(names.enumerated().map { (ByteKey($1), $0) }) { first, _ in first }
    }
}
