import Foundation
import Roost

/// `roost blob put|get|ls|verify DB`, or with the database first, as with every command.
enum BlobCommand: Command {
    static let name = "blob"
    static let summary = "stores, reads, lists and verifies blobs"
    static let parameters = [
        Parameter(label: "DB", help: "the database; put makes it if there is none"),
        Parameter(label: "put|get|ls|verify", help: "what to do; may also stand before DB"),
        Parameter(
            label: "FILE|-|DIGEST",
            help: "put: the file to store, or - for standard input (the default); get: the digest",
            isOptional: true),
    ]
    static let options = [
        Option("--type", "TYPE", "put: the content's MIME type, for the reference that is printed"),
        Option("--output", "FILE", "get: the file to write to instead of standard output"),
        Option("--sha256", nil, "put: name the blob by its SHA-256 instead of its SHA-1"),
        Option("--gzip", nil, "put: store the content compressed"),
        .json,
    ]
    static let notes = """
        put prints the digest, such as sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=, and with --json the object by which a document
        refers to the blob. verify ends with status 1 when a blob is damaged, or one that a document refers to is missing.
        `roost compact` removes the blobs that no document names.
        """

    private enum Verb: String, CaseIterable { case put, get, ls, verify }

    static func run(_ given: Invocation) throws {
        let (verb, invocation) = try given.verb(Verb.self)
        let argument = invocation.optional(2)
        switch verb {
        case .put: try put(argument ?? "-", invocation)
        case .get:
            guard let argument else { throw UsageError("DIGEST is missing.") }
            try get(argument, invocation)
        case .ls: try list(invocation)
        case .verify: try verify(invocation)
        }
    }

    private static func put(_ path: String, _ invocation: Invocation) throws {
        let source = try InputFile(path)
        let database = try invocation.openForWriting(createsIfMissing: true)
        let options = BlobOptions(
            digest: invocation.has("--sha256") ? .sha256 : .sha1,
            compression: invocation.has("--gzip") ? .always : .never)
        let blob = try BlobInput.store(
            source, in: database, contentType: invocation.string("--type"), options)
        try database.close()
        Console.print(invocation.has("--json") ? try blob.value.json() : blob.digest)
    }

    private static func get(_ digest: String, _ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        guard let reader = try database.blobReader(digest) else {
            throw CommandFailure(
                "\(invocation[0]) has no blob \(digest). `roost blob ls \(invocation[0])` lists them.")
        }
        // Before anything is written, so that no wrong byte gets out.
        try reader.verify()
        reader.position = 0
        try Console.redirecting(to: invocation.string("--output")) {
            unsafe try reader.forEachPiece { unsafe try Console.write($0) }
            try Console.flush()
        }
    }

    private static func list(_ invocation: Invocation) throws {
        for blob in try invocation.openForReading().blobs() {
            guard invocation.has("--json") else {
                Console.print("\(blob.digest) \(blob.length)")
                continue
            }
            var object = JSONObject()
            object.add("digest", blob.digest)
            object.add("length", blob.length)
            Console.print(object.text)
        }
    }

    private static func verify(_ invocation: Invocation) throws {
        let bar = ProgressBar("Verifying")
        defer { bar.finish() }
        let report = try invocation.openForReading().verifyBlobs { done, total in
            bar.show(UInt64(done), of: UInt64(total))
            return true
        }
        bar.finish()
        if invocation.has("--json") {
            var object = JSONObject()
            object.add("count", report.count)
            object.add("bytes", report.bytes)
            let damaged = report.damaged.map { damage in
                var object = JSONObject()
                object.add("file", damage.file)
                object.add("reason", damage.reason)
                return object.text
            }
            object.add("damaged", raw: JSONObject.array(damaged))
            object.add("documents", raw: JSONObject.array(report.documents.map(\.json)))
            Console.print(object.text)
        } else {
            for damage in report.damaged { Console.print("\(damage.file): \(damage.reason)") }
            for finding in report.documents { Console.print("\(finding)") }
            let missing = report.documents.count { $0.what.hasSuffix("missing") }
            Console.print(
                "\(Count.text(report.count, "blob")), \(report.damaged.count) damaged, \(missing) missing.")
        }
        if !report.isClean {
            throw CommandFailure("Blobs are damaged or missing. Restore them from a backup or a peer.")
        }
    }
}

// MARK: - AttachCommands

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
