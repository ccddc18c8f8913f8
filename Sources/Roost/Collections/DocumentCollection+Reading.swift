import Foundation

// What a snapshot reads, for programs that need one answer as of now.

extension DocumentCollection {
    /// The documents that `selection` tells, all in memory at once: see ``CollectionSnapshot/documents(_:)``.
    public func documents(_ selection: DocumentSelection) throws(DatabaseError) -> [Document] {
        try snapshot().documents(selection)
    }

    /// The documents with IDs in a range: see ``CollectionSnapshot/documents(prefix:from:to:limit:descending:)``.
    public func documents(
        prefix: String? = nil, from: String? = nil, to: String? = nil, limit: Int = .max,
        descending: Bool = false
    ) throws(DatabaseError) -> [Document] {
        try snapshot().documents(prefix: prefix, from: from, to: to, limit: limit, descending: descending)
    }

    /// When a document is to be purged; `nil` for never, and where there is none.
    public func expiration(of id: String) throws(DatabaseError) -> Date? {
        try snapshot().expiration(of: id)
    }

    /// The documents that are to be purged before a date, earliest first; all that expire by default.
    public func expirations(
        before date: Date = .distantFuture, limit: Int = .max
    ) throws(DatabaseError) -> [(id: String, date: Date)] {
        try snapshot().expirations(before: date, limit: limit)
    }
}
