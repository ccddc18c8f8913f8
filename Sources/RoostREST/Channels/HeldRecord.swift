import Roost

/// The channels' record of the document that a write has changed last, which is written when another document's turn comes, or the
/// write ends: writing the record of thousands of conflicts once for each that is added takes quadratic time.
final class HeldRecord {
    private let batch: WriteTransaction
    private let collection: DocumentCollection
    private var held: (id: ByteKey, record: RoutedDocument)?

    init(_ batch: WriteTransaction, _ collection: DocumentCollection) {
        self.batch = batch
        self.collection = collection
    }

    /// The record of a document, if that is the one.
    func record(of id: String) -> RoutedDocument? {
        held.flatMap { $0.id == ByteKey(id) ? $0.record : nil }
    }

    func hold(_ record: RoutedDocument, of id: String) throws {
        if let held, held.id != ByteKey(id) { try write() }
        held = (ByteKey(id), record)
    }

    /// Writes what is held.
    func write() throws {
        guard let (id, record) = held.take() else { return }
        try batch.annotate(ChannelKey.document(id.text), with: record.record, in: collection)
    }
}
