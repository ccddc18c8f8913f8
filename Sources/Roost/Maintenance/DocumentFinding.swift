/// One thing that is wrong with a document, or was lost of it, as a check or a salvage found it.
public struct DocumentFinding: Hashable, Sendable, CustomStringConvertible {
    /// The collection, as scope and name with a dot between; `nil` where the database as a whole is concerned.
    public let collection: String?
    /// The document; `nil` where the collection as a whole, or an unknown number of documents, is concerned.
    public let id: String?
    /// What is wrong, as part of a sentence. It holds no content of documents.
    public let what: String
    /// The digest of the blob that is missing or damaged; `nil` where something else is wrong.
    public let blob: String?

    init(_ what: String, collection: CollectionName? = nil, id: String? = nil, blob: String? = nil) {
        self.collection = collection?.description
        self.id = id
        self.what = what
        self.blob = blob
    }

    /// The finding in a line.
    public var description: String {
        let document = id.map { "document \(DatabaseError.quoted($0))" }
        let place = [document, collection.map { "collection \($0)" }].compactMap { $0 }.joined(
            separator: " of ")
        return place.isEmpty ? what : "\(place): \(what)"
    }
}

/// Gathers findings up to a limit.
struct DocumentFindings {
    private(set) var findings: [DocumentFinding] = []
    /// Findings beyond the limit.
    private(set) var further = 0
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { findings.count + further }

    mutating func add(
        _ what: String, _ collection: CollectionName? = nil, id: String? = nil, blob: String? = nil
    ) {
        add(DocumentFinding(what, collection: collection, id: id, blob: blob))
    }

    mutating func add(_ finding: DocumentFinding) {
        guard findings.count < limit else {
            further += 1
            return
        }
        findings.append(finding)
    }
}
