import Roost
import RoostWire

/// A revision by which a document left what a user sees, as they get it: a tombstone, which replicators understand, without anything of
/// its content.
struct RemovedDocument: Sendable {
    let id: String
    let revision: RevisionID

    func text(in snapshot: CollectionSnapshot) throws -> [UInt8] {
        let history = try snapshot.history(of: id, revision: revision)
        return
            ([
                "_id": .string(id), "_rev": .string(revision.description), "_deleted": true,
                "_revisions": DocumentText.revisions(history),
            ] as JSON).bytes
    }

    func part(in snapshot: CollectionSnapshot) throws -> MultipartBody.Part {
        MultipartBody.Part(
            headers: [
                "X-Doc-Id": id, "X-Rev-Id": revision.description, "Content-Type": "application/json",
            ],
            body: .bytes(try text(in: snapshot)))
    }
}
