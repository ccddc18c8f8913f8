import Foundation
import Roost

/// `roost attach DB ID NAME FILE|-`.
enum AttachCommand: Command {
    static let name = "attach"
    static let summary = "gives a document an attachment"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "ID", help: "the document's ID"),
        Parameter(label: "NAME", help: "the attachment's name; one of that name is replaced"),
        Parameter(
            label: "FILE|-", help: "its content, or - for standard input (the default)", isOptional: true),
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
        let source = try BlobInput.open(invocation.optional(3) ?? "-")
        let database = try invocation.openForWriting()
        let draft = try AttachmentEdit.draft(invocation, database)
        let blob = try BlobInput.store(
            source, in: database, contentType: invocation.string("--type"),
            BlobOptions(compression: invocation.has("--gzip") ? .always : .never))
        try AttachmentEdit.save(draft, Attachment(blob), invocation, database)
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
        try AttachmentEdit.save(draft, nil, invocation, database)
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
            ?? snapshot.get(invocation[1])
        guard let document else {
            throw CommandFailure(
                "There is no document \"\(invocation[1])\"\(revision.map { " at revision \($0)" } ?? ""). "
                    + "`roost put` makes one.")
        }
        return document.mutableCopy()
    }

    static func save(
        _ draft: MutableDocument, _ attachment: Attachment?, _ invocation: Invocation, _ database: Database
    ) throws {
        var draft = draft
        draft.attachments[invocation[2]] = attachment
        let document = try invocation.collection(of: database).save(&draft)
        try database.close()
        Acknowledgement.print(document, invocation)
    }
}

/// Content for the blob store, from a file or standard input.
enum BlobInput {
    /// Opens a file; `-` is standard input.
    static func open(_ path: String) throws -> FileHandle {
        if path == "-" { return .standardInput }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure("\(path) can't be read. Is it there, and may you read it?")
        }
        return file
    }

    /// Stores all that there is to read, in constant memory.
    static func store(
        _ source: FileHandle, in database: Database, contentType: String?, _ options: BlobOptions
    ) throws -> Blob {
        let writer = try database.makeBlobWriter(contentType: contentType, options: options)
        while let piece = try source.read(upToCount: 1 << 20), !piece.isEmpty {
            try unsafe piece.withUnsafeBytes { try unsafe writer.write($0) }
        }
        return try writer.finish()
    }
}
