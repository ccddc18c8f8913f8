import Foundation
import Roost

/// `roost attach DB ID [NAME] FILE|-`.
enum AttachCommand: Command {
    static let name = "attach"
    static let summary = "gives a document an attachment"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID", help: "the document's ID"),
        Parameter(
            label: "NAME", help: "the attachment's name (that of the file); one of that name is replaced",
            isOptional: true),
        Parameter(label: "FILE|-", help: "its content, or - for standard input, which needs a NAME"),
    ]
    static let options = [
        .collection,
        Option(Option.revisionName, "REV", "the revision to edit; it is a conflict if there is another"),
        Option("--type", "TYPE", "the content's MIME type"),
        Option("--gzip", nil, "store the content compressed"),
        .json,
    ]
    static let notes =
        "`roost get` shows attachments with their digests, by which `roost blob get` reads them."

    static func run(_ invocation: Invocation) throws {
        let path = invocation.optional(3) ?? invocation[2]
        let name = invocation.optional(3) == nil ? try baseName(of: path) : invocation[2]
        let source = try InputFile(path)
        let database = try invocation.openForWriting()
        let draft = try AttachmentEdit.draft(invocation, database)
        let blob = try BlobInput.store(
            source, in: database, contentType: invocation.string("--type"),
            BlobOptions(compression: invocation.has("--gzip") ? .always : .never))
        try AttachmentEdit.save(draft, name, Attachment(blob), invocation, database)
    }

    /// The name that a file gives an attachment.
    private static func baseName(of path: String) throws -> String {
        guard path != "-" else { throw UsageError("NAME is missing: standard input has none.") }
        return URL(fileURLWithPath: path).lastPathComponent
    }
}

/// `roost detach DB ID NAME`.
enum DetachCommand: Command {
    static let name = "detach"
    static let summary = "removes an attachment from a document"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID", help: "the document's ID"),
        Parameter(label: "NAME", help: "the attachment's name"),
    ]
    static let options = [
        .collection,
        Option(Option.revisionName, "REV", "the revision to edit; it is a conflict if there is another"),
        .json,
    ]
    static let notes = "Its content goes with the next `roost compact`, unless something else names it."

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForWriting()
        let draft = try AttachmentEdit.draft(invocation, database)
        guard draft.attachments[invocation[2]] != nil else {
            throw CommandFailure("The document \"\(invocation[1])\" has no attachment \"\(invocation[2])\".")
        }
        try AttachmentEdit.save(draft, invocation[2], nil, invocation, database)
    }
}

/// What both commands do.
private enum AttachmentEdit {
    /// A copy of the document, in the revision that was asked for.
    static func draft(_ invocation: Invocation, _ database: Database) throws -> MutableDocument {
        let snapshot = try invocation.collection(of: database).snapshot()
        let revision = try invocation.revision()
        let document =
            try revision.map { try snapshot.document(invocation[1], revision: $0) }
            ?? snapshot.document(invocation[1])
        guard let document else {
            throw CommandFailure(
                "There is no document \"\(invocation[1])\"\(revision.map { " at revision \($0)" } ?? ""). "
                    + "`roost put` makes one.")
        }
        return document.mutableCopy()
    }

    static func save(
        _ draft: MutableDocument, _ name: String, _ attachment: Attachment?, _ invocation: Invocation,
        _ database: Database
    ) throws {
        var draft = draft
        draft.attachments[name] = attachment
        let document = try invocation.collection(of: database).save(&draft)
        try database.close()
        Acknowledgement.print(document, invocation)
    }
}

/// Content for the blob store, from a file or standard input.
enum BlobInput {
    /// Stores all that there is to read, in constant memory.
    static func store(
        _ source: InputFile, in database: Database, contentType: String?, _ options: BlobOptions
    ) throws -> Blob {
        let writer = try database.makeBlobWriter(contentType: contentType, options: options)
        var piece: [UInt8] = []
        repeat {
            try source.read(1 << 20, into: &piece)
            try writer.write(piece)
        } while !piece.isEmpty
        return try writer.finish()
    }
}
