import Foundation
import RoostBytes
import RoostStorage

extension WriteTransaction {
    /// Sets when a document is to be purged; `nil` for never.
    ///
    /// Not an edit: the document gets no new revision and stands where it stood in the changes. The purge is not
    /// replicated. An edit leaves the expiration as it is.
    ///
    /// - Parameters:
    ///   - date: To the microsecond. A date that has passed is good for a purge right away.
    ///   - id: The document's name.
    ///   - collection: Where it is.
    /// - Returns: Whether there is such a document.
    /// - Throws: `invalidDate` for a date that is not a number, `invalidDocumentID`.
    @discardableResult
    public func setExpiration(
        _ date: Date?, of id: String, in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        let name = try DocumentID(revisioned: id)
        let writer = try writer(collection)
        guard date?.timeIntervalSince1970.isNaN != true else {
            throw DatabaseError(
                .invalidDate, "The expiration of \(DatabaseError.quoted(id)) is not a number. Give it a date."
            )
        }
        let time = date.map(\.microsecondsSince1970)
        let isThere = try writer.setExpiration(writer.keyView(name), time)
        if isThere, let time { nextExpiration = min(nextExpiration ?? .max, time) }
        return isThere
    }
}

extension CollectionSnapshot {
    /// When a document is to be purged; `nil` for never, and where there is none.
    public func expiration(of id: String) throws(DatabaseError) -> Date? {
        try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.withEntry(key) { (entry, _) throws(DatabaseError) in entry.expiration.map(Date.init) }
                ?? nil
        }
    }

    /// The documents that are to be purged before a date, earliest first; all that expire by default.
    public func expirations(
        before date: Date = .distantFuture, limit: Int = .max
    ) throws(DatabaseError) -> [(id: String, date: Date)] {
        let range = KeyRange(
            lower: Key(ExtrasKey.expirations(from: 0)),
            upper: Key(ExtrasKey.expirations(from: date.microsecondsSince1970)))
        return try reader.expirations(range, limit: limit).map {
            ($0.id, Date(microsecondsSince1970: $0.time))
        }
    }
}

extension Database {
    /// Purges all documents whose expiration has come. It happens by itself while the database is open for writing.
    ///
    /// - Returns: How many documents were purged.
    @discardableResult
    public func purgeExpired() throws(DatabaseError) -> Int {
        try checkWritable()
        return try core.purgeExpired()
    }
}

extension Date {
    init(microsecondsSince1970 time: UInt64) {
        self.init(timeIntervalSince1970: Double(time) / 1_000_000)
    }

    /// Rounded, and held within what there can be.
    fileprivate var microsecondsSince1970: UInt64 {
        let time = (timeIntervalSince1970 * 1_000_000).rounded()
        return time >= 0 ? UInt64(exactly: min(time, 9e18)) ?? 0 : 0
    }
}
