import Fleece
import Roost

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
    package init?(_ query: Query) {
        columns = query.prepared.columns
        guard columns.areStars.contains(true) else { return nil }
        isPrefixed = columns.areStars.count { $0 } > 1
        plainNames = Set(zip(columns.names, columns.areStars).filter { !$1 }.map { ByteKey($0.0) })
    }

    /// The names and values of a row, in order; those that have no value are not among them.
    package func values(of row: Row) -> [(name: String, value: FleeceValue)] {
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
    package func json(of row: Row) -> String {
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
                        "The documents that * stands for have more than \(Self.most) different properties. Name those that are wanted.")
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
