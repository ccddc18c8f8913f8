import Fleece

/// Documents that are to be saved, parsed and ready to be stored, one after the other.
///
/// The bodies of those that say nothing of themselves but their ID lie one behind the other in one piece of memory, with the
/// digests that they have as first revisions. That is what most documents are that are saved many at a time.
package struct PreparedDocuments: Sendable {
    enum Item: Sendable {
        /// A document by its body alone: its name, where the stored form of the body is, the digest of its first revision.
        case plain(id: String?, body: Range<Int>, digest: RevisionDigest)
        /// A document that says more of itself, or why there is none.
        indirect case other(id: String?, Result<IncomingDocument, DatabaseError>)
    }

    private(set) var bodies: [UInt8] = []
    private(set) var items: [Item] = []

    package var count: Int { items.count }

    /// Parses documents, with memory that is kept between them.
    struct Maker: ~Copyable {
        private let maker: BodyMaker
        private var form = CanonicalForm()
        private var prepared = PreparedDocuments()

        init(takingNumbersAsIDs takesNumbersAsIDs: Bool = false) {
            maker = BodyMaker(takesNumbersAsIDs: takesNumbersAsIDs)
        }

        /// Adds the document that a JSON object describes. What is wrong with it is told when it is to be saved.
        ///
        /// - Parameter id: The document's name; `nil` for a new one.
        mutating func add(
            json: ArraySlice<UInt8>, id: (IncomingDocument) throws(DatabaseError) -> String?
        ) {
            do throws(DatabaseError) {
                let document = try maker.document(json: json)
                let id = try id(document)
                guard document.isPlain(id) else {
                    return prepared.items.append(.other(id: id, .success(document)))
                }
                let start = prepared.bodies.count
                document.body.append(to: &prepared.bodies)
                prepared.items.append(
                    .plain(
                        id: id, body: start..<prepared.bodies.count,
                        digest: document.body.digest(parent: nil, isDeleted: false, gatheredIn: &form)))
            } catch {
                prepared.items.append(.other(id: nil, .failure(error)))
            }
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
