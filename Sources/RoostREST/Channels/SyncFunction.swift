import Fleece
import Roost

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
    /// write, so it must be quick. `old` is what is there, `nil` where nothing is or it is deleted. Any other error refuses the
    /// document, too.
    public typealias Body =
        @Sendable (_ document: ExaminedDocument, _ old: Document?, _ sync: inout SyncDecision) throws -> Void

    /// Decides on what is asked.
    package typealias Decide = @Sendable (SyncQuestion, inout SyncDecision) throws -> Void

    let decide: Decide

    /// A function in Swift.
    public init(_ body: @escaping Body) {
        decide = { question, decision in try body(question.document, question.old, &decision) }
    }

    /// A function in another language.
    package init(deciding decide: @escaping Decide) { self.decide = decide }
}

/// What a sync function is asked.
package struct SyncQuestion: Sendable {
    /// The document that is to be saved.
    package let document: ExaminedDocument
    /// What is there; `nil` where nothing is or it is deleted.
    package let old: Document?
    /// The document that is to be saved, as JSON with its `_id`.
    package let text: [UInt8]
    /// The database's name.
    package let database: String
    /// The database's security object, as JSON.
    package let security: [UInt8]
}
