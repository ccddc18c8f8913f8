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
