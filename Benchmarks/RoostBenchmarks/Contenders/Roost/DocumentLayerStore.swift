import Roost

/// Roost's documents: what the layer of documents, revisions and changes costs beside the bare engine below it. A value
/// is a property of a document, saved as a draft and read by asking for it.
final class DocumentLayerStore: Contender {
    let database: Database
    let documents: DocumentCollection

    init(_ request: OpenRequest) throws {
        var options = DatabaseOptions()
        if let cacheSize = request.cacheSize { options.cacheSize = cacheSize }
        database = try Database.open(request.directory, options: options)
        documents = try database.defaultCollection
    }

    func makeWriter() throws -> any ContenderWriter { DocumentLayerWriter(documents) }

    func makeReader() throws -> any ContenderReader { DocumentLayerReader(documents) }

    func settle() throws {}

    func compactAndClose() throws {
        try database.compact()
        try database.close()
    }

    func close() throws { try database.close() }

    static let entry = ContenderEntry(
        name: "roost-documents",
        title: "Roost, documents",
        kind: .roost,
        configuration: "Database with its defaults: revisions, digests, both orders, Fleece bodies",
        rows: [
            .orderedLoad, .randomLoad, .updates, .singleCommits, .parallelCommits, .randomReads, .scans,
            .ranges, .opening, .changeFeed, .jsonImport, .jsonDocuments, .views, .viewUpkeep, .queries,
            .texts, .steadyState,
        ],
        open: { try DocumentLayerStore($0) }, views: { try RoostViews($0) },
        documents: { try RoostDocuments($0) }, queries: { try RoostQueries($0) },
        texts: { try RoostTexts($0) })
}

final class DocumentLayerWriter: ContenderWriter {
    private let documents: DocumentCollection

    init(_ documents: DocumentCollection) { self.documents = documents }

    func commit(_ batch: Batch, _ kind: CommitKind) throws {
        try documents.database.write { changes in
            for index in 0..<batch.count {
                let id = unsafe UnsafeRawBufferPointer(start: batch.id(index), count: DocumentID.size)
                let value = unsafe UnsafeRawBufferPointer(start: batch.value(index), count: batch.valueSize)
                var draft = MutableDocument(
                    id: unsafe String(decoding: id, as: UTF8.self), ["value": .data(unsafe Array(value))])
                try changes.save(&draft, in: documents, onConflict: .lastWriteWins)
            }
        }
    }
}

final class DocumentLayerReader: ContenderReader {
    private let documents: DocumentCollection

    init(_ documents: DocumentCollection) { self.documents = documents }

    func takeSnapshot() throws { _ = try documents.snapshot() }

    func read(_ key: DocumentKey, into sink: inout Sink) throws {
        guard let value = try documents.document(key.text)?["value"].data else {
            throw BenchmarkError.missing(key.id)
        }
        unsafe value.withUnsafeBytes { unsafe sink.accept($0) }
    }

    func scanByID(into sink: inout Sink) throws {
        try scan(try documents.snapshot().cursor(), into: &sink)
    }

    func scanBySequence(into sink: inout Sink) throws {
        let cursor = try documents.snapshot().changeCursor()
        while let change = try cursor.next() { accept(try cursor.document(of: change), into: &sink) }
    }

    func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws {
        try scan(
            try documents.snapshot().cursor(DocumentSelection(from: key.text, limit: count)), into: &sink)
    }

    private func scan(_ cursor: DocumentCursor, into sink: inout Sink) throws {
        while let document = try cursor.next() { accept(document, into: &sink) }
    }

    private func accept(_ document: Document, into sink: inout Sink) {
        guard let value = document["value"].data else { return }
        var id = document.id
        id.withUTF8 { id in
            unsafe value.withUnsafeBytes {
                unsafe sink.accept(id: id.baseAddress!, $0.baseAddress!, $0.count)
            }
        }
    }
}

extension DocumentKey {
    /// The ID's digits.
    var text: String {
        var id = id
        return unsafe withUnsafeBytes(of: &id) { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
