import Roost

/// The channels' records that a write has changed and not written yet: that of the document that it changed last, until another
/// document's turn comes, and those of users and roles, until the write ends. A write of thousands of conflicts of one document, or of
/// thousands of documents that let one user in, would take quadratic time if it wrote the whole record for each.
final class HeldRecords {
    private let batch: WriteBatch
    private let collection: DocumentCollection
    private var document: (id: ByteKey, record: RoutedDocument)?
    /// Those of users and roles, by their keys.
    private var principals: [[UInt8]: Principal] = [:]
    private var changed: Set<[UInt8]> = []
    /// How often something was taken from somebody.
    private(set) var withdrawals = 0

    init(_ batch: WriteBatch, _ collection: DocumentCollection) {
        self.batch = batch
        self.collection = collection
    }

    // MARK: Documents

    /// The record of a document, if that is the one.
    func record(of id: String) -> RoutedDocument? {
        document.flatMap { $0.id == ByteKey(id) ? $0.record : nil }
    }

    func hold(_ record: RoutedDocument, of id: String) throws {
        if let document, document.id != ByteKey(id) { try writeDocument() }
        document = (ByteKey(id), record)
    }

    private func writeDocument() throws {
        guard let (id, record) = document.take() else { return }
        try batch.annotate(ChannelKey.document(id.text), with: record.record, in: collection)
    }

    // MARK: Users and roles

    /// The record of a user or a role.
    func principal(_ key: [UInt8]) throws -> Principal {
        if let known = principals[key] { return known }
        let principal = try Principal(record: batch.annotation(key, in: collection)) ?? Principal()
        principals[key] = principal
        return principal
    }

    /// Changes the record of a user or a role.
    ///
    /// - Parameter change: Returns whether something was taken from them.
    func change(_ key: [UInt8], _ change: (inout Principal) -> Bool) throws {
        // Taken out while it is changed, so that it is not copied.
        _ = try principal(key)
        var principal = principals.removeValue(forKey: key) ?? Principal()
        if change(&principal) { withdrawals += 1 }
        principals[key] = principal
        changed.insert(key)
    }

    /// Writes what was changed of users and roles.
    func writePrincipals() throws {
        for key in changed {
            if let principal = principals[key] {
                try batch.annotate(key, with: principal.record, in: collection)
            }
        }
        changed = []
    }

    /// Writes what is held.
    func write() throws {
        try writeDocument()
        try writePrincipals()
    }
}
