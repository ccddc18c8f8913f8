import Fleece
import Roost
import RoostCrypto
import RoostWire

/// `_bulk_get`: many documents in one request.
enum BulkDocuments {
    // MARK: Reading

    /// An entry of a `_bulk_get` request: a document at a revision, or at all its leaves.
    private struct Wanted: Sendable {
        let id: String?
        let revision: String?
        let known: FleeceValue?
        /// Why the entry is invalid, which is the answer in its place.
        let failure: HTTPFailure?

        init(_ value: FleeceValue) {
            id = value["id"].string
            revision = value["rev"].string
            known = value["atts_since"].exists ? value["atts_since"] : nil
            failure = Self.failure(value)
        }

        private static func failure(_ value: FleeceValue) -> HTTPFailure? {
            guard value.dictionary != nil else { return .badRequest("document must be a JSON object") }
            guard let id = value["id"].string else { return .badRequest("document id missed") }
            if value["rev"].exists, value["rev"].string == nil { return .invalidRevision }
            if value["atts_since"].exists, value["atts_since"].array == nil {
                return .badRequest("att_since value must be array of revs.")
            }
            do {
                try RequestDocument.checkID(id)
                return nil
            } catch {
                return HTTPFailure(error)
            }
        }
    }

    /// `_bulk_get`: one result for each entry of the request, in the same order.
    static func get(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        for name in ["open_revs", "new_edits", "w", "rev", "atts_since"] where context.query[name] != nil {
            throw HTTPFailure.badRequest("\(name) is not permitted in the query of _bulk_get.")
        }
        guard let docs = try await context.object().root["docs"].array else {
            throw HTTPFailure.badRequest("Missing JSON list of 'docs'.")
        }
        let text = try DocumentText(context.query, context.memory).ofOneRevision
        let latest = try context.query.flag("latest")
        let visibility = try target.visibility(of: try target.collection.snapshot())
        let served = target.served
        if let accept = context.headers["Accept"], !MediaType.accepts(accept, "application/json"),
            let type = ["multipart/mixed", "multipart/related"].first(where: { MediaType.accepts(accept, $0) }
            )
        {
            return try multipart(docs, type, text, latest, visibility, served)
        }
        let body = GeneratedBody {
            let known = SeenDocumentCache(visibility)
            var index = 0
            var hasEnded = false
            return {
                guard !hasEnded else { return nil }
                var bytes = index == 0 ? Array("{\"results\":[".utf8) : []
                while index < docs.count, bytes.count < 32 << 10 {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    try result(Wanted(docs[index]), text, latest, known, served).write(to: &bytes)
                    index += 1
                }
                if index == docs.count {
                    hasEnded = true
                    bytes += "]}\n".utf8
                }
                return bytes
            }
        }
        return try await context.stream(body)
    }

    private static func find(
        _ wanted: Wanted, _ latest: Bool, _ known: SeenDocumentCache
    ) throws -> (document: SeenDocument, found: [SeenDocument.Found]) {
        if let failure = wanted.failure { throw failure }
        let document = try known.document(wanted.id ?? "")
        guard let revision = wanted.revision else {
            let leaves = document.leaves
            return (document, leaves.isEmpty ? [.missing("undefined")] : leaves.map { .revision($0) })
        }
        return (document, try document.find([revision], latest: latest))
    }

    private static func result(
        _ wanted: Wanted, _ text: DocumentText, _ latest: Bool, _ known: SeenDocumentCache,
        _ served: ServedDatabase
    ) throws -> JSON {
        var docs: [JSON]
        do {
            let (document, found) = try find(wanted, latest, known)
            docs = try found.map { entry in
                switch entry {
                case .missing(let revision): return error(wanted, revision, .missing)
                case .removed(let revision): return ["ok": .text(try document.removed(revision).text)]
                case .revision(let revision):
                    let (snapshot, revisions) = (document.snapshot, document.revisions)
                    guard let found = try document.document(revision) else {
                        return error(wanted, revision.description, .missing)
                    }
                    var text = text
                    if let since = wanted.known {
                        text.attachments = true
                        text.attachmentsSince = try DocumentText.newestKnown(
                            since, of: found, in: snapshot, revisions)
                    }
                    return ["ok": .text(try text.bytes(found, in: snapshot, of: served, revisions))]
                }
            }
        } catch {
            docs = [Self.error(wanted, wanted.revision ?? "undefined", HTTPFailure(error))]
        }
        return ["id": wanted.id.map { .string($0) } ?? .null, "docs": .array(docs)]
    }

    private static func error(_ wanted: Wanted, _ revision: String, _ failure: HTTPFailure) -> JSON {
        [
            "error": [
                "id": wanted.id.map { .string($0) } ?? .null, "rev": .string(revision),
                "error": .string(failure.error),
                "reason": .string(failure.reason),
            ]
        ]
    }

    /// What a `_bulk_get` finds, as the parts of a multipart body, one after another.
    private actor FoundDocuments {
        private let docs: FleeceArray
        private let text: DocumentText
        private let latest: Bool
        private let known: SeenDocumentCache
        private let served: ServedDatabase
        private var index = 0
        /// The document at the index before, and what was found of it, last first.
        private var present: SeenDocument?
        private var found: [SeenDocument.Found] = []

        init(
            _ docs: FleeceArray, _ text: DocumentText, _ latest: Bool, _ visibility: Visibility,
            _ served: ServedDatabase
        ) {
            (self.docs, self.text, self.latest, self.served) = (docs, text, latest, served)
            known = SeenDocumentCache(visibility)
        }

        func next() throws -> MultipartBody.Part? {
            while found.isEmpty {
                guard index < docs.count else { return nil }
                let (document, entries) = try BulkDocuments.find(Wanted(docs[index]), latest, known)
                present = document
                found = entries.reversed()
                index += 1
            }
            guard let entry = found.popLast(), let document = present else { return nil }
            let wanted = Wanted(docs[index - 1])
            switch entry {
            case .missing(let revision): return Self.missing(wanted, revision)
            case .removed(let revision): return try document.removed(revision).part
            case .revision(let revision):
                guard let found = try document.document(revision) else {
                    return Self.missing(wanted, revision.description)
                }
                return try part(found, document, wanted)
            }
        }

        private static func missing(_ wanted: Wanted, _ revision: String) -> MultipartBody.Part {
            MultipartBody.Part(
                headers: ["Content-Type": "application/json; error=\"true\""],
                body: .bytes(BulkDocuments.error(wanted, revision, .missing).bytes))
        }

        private func part(
            _ found: Document, _ document: SeenDocument, _ wanted: Wanted
        ) throws -> MultipartBody.Part {
            var text = text
            text.attachmentsFollow = true
            text.attachmentsSince = try DocumentText.newestKnown(
                wanted.known, of: found, in: document.snapshot, document.revisions)
            let part = try MultipartDocument.part(
                found, text, document.snapshot, served, document.revisions)
            var headers: HTTPHeaders = ["X-Doc-Id": found.id, "X-Rev-Id": "\(found.revision)"]
            for field in part.headers.fields { headers.add(field.name, field.value) }
            return MultipartBody.Part(headers: headers, body: part.body)
        }
    }

    private static func multipart(
        _ docs: FleeceArray, _ type: String, _ text: DocumentText, _ latest: Bool,
        _ visibility: Visibility, _ served: ServedDatabase
    ) throws -> HTTPResponse {
        let boundary = RandomText.hexadecimal(bytes: 16)
        // What is wrong with one of them is the answer to all.
        for value in docs {
            let wanted = Wanted(value)
            if let failure = wanted.failure { throw failure }
            _ = try wanted.revision.map(RevisionID.possible)
        }
        let found = FoundDocuments(docs, text, latest, visibility, served)
        let body = MultipartBody(boundary: boundary) { _ in try await found.next() }
        return HTTPResponse(
            200, headers: ["Content-Type": "\(type); boundary=\"\(boundary)\""],
            body: .stream(body, length: nil))
    }
}
