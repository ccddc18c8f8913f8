import Roost
import RoostWire

/// A revision by which a document left what a user sees, as they get it: a tombstone, which replicators understand, without anything of
/// its content.
struct RemovedDocument: Sendable {
    let id: String
    let revision: RevisionID
    /// The revision and its ancestors, newest first.
    let history: [RevisionID]

    var text: [UInt8] {
        ([
            "_id": .string(id), "_rev": .string(revision.description), "_deleted": true,
            "_revisions": DocumentText.revisions(history),
        ] as JSON).bytes
    }

    var part: MultipartBody.Part {
        MultipartBody.Part(
            headers: [
                "X-Doc-Id": id, "X-Rev-Id": revision.description, "Content-Type": "application/json",
            ],
            body: .bytes(text))
    }
}
