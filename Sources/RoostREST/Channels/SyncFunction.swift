import Fleece
import Roost
import RoostCrypto

/// Decides what becomes of each document that is written from outside: whether it is saved, in which channels it stands, and whom it
/// gives access to channels. Sync Gateway's sync function.
///
/// ```swift
/// hooks.sync = SyncFunction { document, old, sync in
///     if let old { try sync.requireUser(old["owner"].string ?? "") }
///     sync.channel("ch-\(document["room"].string ?? "")")
/// }
/// ```
///
/// Who is no administrator then sees the documents of the channels they have access to and nothing else; see ``Hooks/sync``.
public struct SyncFunction: Sendable {
    /// Looks at `document` and tells `sync` what is to become of it; throws a ``ValidationFailure`` to refuse it. Called within the
    /// write, so it must be quick. `old` is what is there, `nil` where nothing is, it is deleted, or the user does not see the whole
    /// document. Any other error refuses the document, too.
    public typealias Body =
        @Sendable (_ document: ExaminedDocument, _ old: Document?, _ sync: inout SyncDecision) throws -> Void

    /// Decides on what is asked.
    package typealias Decide = @Sendable (SyncQuestion, inout SyncDecision) throws -> Void

    /// Tells the function from what it was: documents that another one decided on are routed anew.
    public let version: String
    let decide: Decide

    /// A function in Swift.
    ///
    /// - Parameters:
    ///   - version: To be changed whenever the function comes to decide otherwise.
    ///   - body: What decides.
    public init(version: String = "1", _ body: @escaping Body) {
        self.version = version
        decide = { question, decision in try body(question.document, question.old, &decision) }
    }

    /// A function in another language, whose version is its text's digest.
    package init(source: String, deciding decide: @escaping Decide) {
        version = RandomText.text(Array(SHA256.hash(Array(source.utf8)).bytes.prefix(8)))
        self.decide = decide
    }
}

/// What a sync function is asked.
package struct SyncQuestion {
    /// What functions are shown of a document besides its properties.
    package static let metadata: DocumentMetadata = [
        .id, .revision, .attachments, .md5Digests, .revisions,
    ]

    /// The document that is to be saved.
    package let document: ExaminedDocument
    /// What is there; `nil` where nothing is or it is deleted.
    package let old: Document?
    /// Makes the JSON of the document that is to be saved, with its `_id`, and `_rev` and `_revisions` where it has any.
    package let text: () throws -> [UInt8]
    /// Makes the JSON of what is there, with its `_id`, `_rev` and `_revisions`.
    package let oldText: () throws -> [UInt8]?
    /// The database's name.
    package let database: String
    /// The collection that the document is in.
    package let collection: DocumentCollection
    /// The database's security object, as JSON.
    package let security: [UInt8]
}
