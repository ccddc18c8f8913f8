/// Documents that are saved one after the other and parsed by several threads, ahead of being stored. Belongs to the thread of
/// its batch.
@usableFromInline final class BulkSave {
    private let batch: WriteTransaction
    private let collection: DocumentCollection
    private let ahead = WorkAhead<DocumentTexts, PreparedDocuments> { $0.prepared() }
    private var texts = DocumentTexts()
    private var changes: [DocumentChange] = []

    @usableFromInline init(_ batch: WriteTransaction, _ collection: DocumentCollection) {
        self.batch = batch
        self.collection = collection
    }

    /// Takes a document, and stores others that were taken before where many wait.
    @usableFromInline func add(_ json: String, id: String?) throws(DatabaseError) {
        texts.append(json, id: id)
        guard texts.isFull else { return }
        ahead.add(texts)
        texts = DocumentTexts()
        if ahead.count > ahead.depth { _ = try storeNext() }
    }

    /// Stores what was taken and is not stored yet.
    ///
    /// - Returns: What became of all documents.
    @usableFromInline func finish() throws(DatabaseError) -> [DocumentChange] {
        if !texts.isEmpty { ahead.add(texts) }
        while try storeNext() {}
        return changes
    }

    private func storeNext() throws(DatabaseError) -> Bool {
        guard let documents = ahead.next() else { return false }
        for place in 0..<documents.count {
            changes.append(try batch.save(documents, place, in: collection))
        }
        return true
    }
}
