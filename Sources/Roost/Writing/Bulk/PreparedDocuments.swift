import Fleece
import RoostBytes

/// Documents that are to be saved, parsed and ready to be stored, one after the other.
///
/// The bodies of those that say nothing of themselves but their ID lie one behind the other in one piece of memory, with the
/// digests that they have as first revisions. That is what most documents are that are saved many at a time.
package struct PreparedDocuments: Sendable {
    /// A document by its body alone.
    struct Plain: Sendable {
        var id: String?
        /// Where the stored form of its body is.
        var body: Range<Int>
        /// The digest of its first revision.
        var digest: RevisionDigest?
    }

    private(set) var bodies: [UInt8] = []
    private(set) var documents: [Plain] = []
    /// By their places: those that say more, and have no digest in ``documents``, or why they are none.
    private(set) var others: [Int: Result<IncomingDocument, DatabaseError>] = [:]

    package var count: Int { documents.count }

    /// Parses documents, with memory that is kept between them.
    struct Maker: ~Copyable {
        private let maker = BodyMaker()
        private var form = CanonicalForm()
        private var prepared = PreparedDocuments()

        /// Adds the document that a JSON object describes. What is wrong with it is told when it is to be saved.
        ///
        /// - Parameter id: The document's name; `nil` for a new one.
        mutating func add(
            json: ArraySlice<UInt8>, id: (IncomingDocument) throws(DatabaseError) -> String?
        ) {
            let start = prepared.bodies.count
            var plain = PreparedDocuments.Plain(id: nil, body: start..<start)
            do throws(DatabaseError) {
                let document = try maker.document(json: json)
                plain.id = try id(document)
                if document.isPlain(plain.id) {
                    document.body.append(to: &prepared.bodies)
                    plain.body = start..<prepared.bodies.count
                    plain.digest = document.body.digest(parent: nil, isDeleted: false, gatheredIn: &form)
                } else {
                    prepared.others[prepared.count] = .success(document)
                }
            } catch {
                prepared.others[prepared.count] = .failure(error)
            }
            prepared.documents.append(plain)
        }

        /// What was added.
        consuming func finish() -> PreparedDocuments { prepared }
    }
}

extension IncomingDocument {
    /// Whether it says nothing of itself but `id`, and brings nothing.
    fileprivate func isPlain(_ id: String?) -> Bool {
        guard attachments == nil, contents.isEmpty else { return false }
        return claims?.sayOnly(id: id) ?? true
    }
}
