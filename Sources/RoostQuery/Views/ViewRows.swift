import Fleece
import Roost

/// A row of a view.
public struct ViewRow<Key: Sendable, Value: Sendable>: Sendable {
    /// The document that the row was emitted for.
    public let id: String
    /// The key.
    public let key: Key
    /// The value.
    public let value: Value
    /// The document, if documents were asked for: the one that the value names, or the row's own; `nil` where that is deleted.
    public let document: Document?
    /// The revisions that are in conflict with the document's, if conflicts were asked for.
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
    /// How many rows of the view come before these; 0 where they were asked for by their keys, or their place was said not
    /// to matter.
    public let offset: UInt64
    /// The collection's update sequence that the rows show.
    public let updateSequence: UInt64
    /// How many rows of the view were passed, those of documents that were left out among them.
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
