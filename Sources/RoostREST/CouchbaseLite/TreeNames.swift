import Roost
import RoostCrypto

/// The names of revisions in Couchbase Lite's protocol up to version 3: a generation and an even number of lower-case hexadecimal
/// digits.
///
/// Most revisions are called that here, too. Those that a CouchDB client named differently, such as `1-a`, have the SHA-1 of their
/// digest there, and are recognized by it among the document's revisions.
struct TreeNames {
    /// The document's revisions that have another name there, by that.
    private let others: [String: RevisionID]

    /// The names of a document's revisions.
    init(of id: String, in snapshot: CollectionSnapshot) throws {
        let revisions = try snapshot.revisions(of: id).map(\.id).filter {
            !Self.isTreeDigest(Self.digest($0))
        }
        others = Dictionary(revisions.map { (Self.text($0), $0) }) { first, _ in first }
    }

    /// What a revision is called there.
    static func text(_ revision: RevisionID) -> String {
        let digest = digest(revision)
        guard !isTreeDigest(digest) else { return revision.description }
        return "\(revision.generation)-\(RandomText.text(SHA1.hash(Array(digest.utf8)).bytes))"
    }

    /// The revision that a name stands for, whether it is known or not; `nil` for what is no name there.
    func revision(_ text: some StringProtocol) -> RevisionID? {
        let text = String(text)
        guard let revision = RevisionID(text), Self.isTreeDigest(Self.digest(revision)) else { return nil }
        return others[text] ?? revision
    }

    private static func digest(_ revision: RevisionID) -> Substring {
        revision.description.drop { $0 != "-" }.dropFirst()
    }

    private static func isTreeDigest(_ digest: Substring) -> Bool {
        !digest.isEmpty && digest.utf8.count % 2 == 0
            && digest.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
