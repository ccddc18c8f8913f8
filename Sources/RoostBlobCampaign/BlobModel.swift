import Roost
import RoostCampaign

/// What documents there should be, and the digests of the blobs that each names: by name of the attachment, and under "" by a
/// property.
struct BlobModel: Equatable {
    var documents: [String: [String: String]] = [:]

    init() {}

    /// What a snapshot shows. Every blob that a document names is read, and must be what was stored under its digest.
    ///
    /// - Throws: ``CampaignFault`` for a blob that is missing or another one.
    init(_ notes: CollectionSnapshot, of database: Database, contents: [String: [UInt8]]) throws {
        for document in try notes.documents() {
            var digests = document.attachments.reduce(into: [:]) { $0[$1.key] = $1.value.digest }
            digests[""] = Blob(document["cover"])?.digest
            for digest in digests.values.sorted() {
                guard let reader = try database.blobReader(digest) else {
                    throw CampaignFault("the blob \(digest) of \(document.id) is missing")
                }
                let content = try reader.readAll()
                guard content == contents[digest] else {
                    throw CampaignFault("the blob \(digest) of \(document.id) has another content")
                }
            }
            documents[document.id] = digests
        }
    }

    /// The first difference in words.
    func difference(from expected: BlobModel) -> String {
        let ids = Set(documents.keys).union(expected.documents.keys).sorted()
        guard let id = ids.first(where: { documents[$0] != expected.documents[$0] }) else { return "none" }
        func text(_ model: BlobModel) -> String { model.documents[id].map { "\($0)" } ?? "nothing" }
        return "\(id) has \(text(self)) instead of \(text(expected))"
    }
}

/// Something that must not be, in words.
struct CampaignFault: Error {
    let what: String

    init(_ what: String) { self.what = what }
}
