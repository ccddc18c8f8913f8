import Fleece
import Roost
import RoostCrypto
import RoostWire

/// `_bulk_get`: many documents in one request.
enum BulkDocuments {
    // MARK: Reading

    /// What `_bulk_get` is asked for: a document at a revision, or at all its leaves.
    private struct Wanted: Sendable {
        let id: String?
        let revision: String?
        let known: FleeceValue?
        /// Why it can't be asked for, which is told in its place.
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

    /// `_bulk_get`: one result per document asked for, in the same order.
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
        let sight = try target.sight(of: try target.collection.snapshot())
        let served = target.served
        if let accept = context.headers["Accept"], !MediaType.accepts(accept, "application/json"),
            let type = ["multipart/mixed", "multipart/related"].first(where: { MediaType.accepts(accept, $0) }
            )
        {
            return try multipart(docs, type, text, latest, sight, served)
        }
        let body = GeneratedBody {
            var index = 0
            var hasEnded = false
            return {
                guard !hasEnded else { return nil }
                var bytes = index == 0 ? Array("{\"results\":[".utf8) : []
                while index < docs.count, bytes.count < 32 << 10 {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    try result(Wanted(docs[index]), text, latest, sight, served).write(to: &bytes)
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
        _ wanted: Wanted, _ latest: Bool, _ sight: Sight
    ) throws -> [DocumentReading.Found] {
        if let failure = wanted.failure { throw failure }
        let id = wanted.id ?? ""
        guard let revision = wanted.revision else {
            let leaves = try sight.leaves(id)
            return leaves.isEmpty ? [.missing("undefined")] : leaves.map { .document($0) }
        }
        return try DocumentReading.find(id, [revision], latest: latest, sight)
    }

    private static func result(
        _ wanted: Wanted, _ text: DocumentText, _ latest: Bool, _ sight: Sight,
        _ served: ServedDatabase
    ) throws -> JSON {
        let snapshot = sight.snapshot
        var docs: [JSON]
        do {
            docs = try find(wanted, latest, sight).map { entry in
                switch entry {
                case .missing(let revision): return error(wanted, revision, .missing)
                case .removed(let removed): return ["ok": .text(try removed.text(in: snapshot))]
                case .document(let document):
                    var text = text
                    if let known = wanted.known {
                        text.attachments = true
                        text.attachmentsSince = try DocumentText.newestKnown(
                            known, of: document, in: snapshot)
                    }
                    return ["ok": .text(try text.bytes(document, in: snapshot, of: served))]
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

    /// The documents that a `_bulk_get` asks for, found one after another.
    private actor FoundDocuments {
        private let docs: FleeceArray
        private let latest: Bool
        private let sight: Sight
        private var index = 0
        /// Of the one before `index`, last first.
        private var found: [DocumentReading.Found] = []

        init(_ docs: FleeceArray, _ latest: Bool, _ sight: Sight) {
            (self.docs, self.latest, self.sight) = (docs, latest, sight)
        }

        func next() throws -> (Wanted, DocumentReading.Found)? {
            while found.isEmpty {
                guard index < docs.count else { return nil }
                found = try BulkDocuments.find(Wanted(docs[index]), latest, sight).reversed()
                index += 1
            }
            return found.popLast().map { (Wanted(docs[index - 1]), $0) }
        }
    }

    private static func multipart(
        _ docs: FleeceArray, _ type: String, _ text: DocumentText, _ latest: Bool,
        _ sight: Sight, _ served: ServedDatabase
    ) throws -> HTTPResponse {
        let snapshot = sight.snapshot
        let boundary = RandomText.hexadecimal(bytes: 16)
        // What is wrong with one of them is the answer to all.
        for value in docs {
            let wanted = Wanted(value)
            if let failure = wanted.failure { throw failure }
            _ = try wanted.revision.map(RevisionID.possible)
        }
        let found = FoundDocuments(docs, latest, sight)
        let body = MultipartBody(boundary: boundary) { _ in
            guard let (wanted, entry) = try await found.next() else { return nil }
            switch entry {
            case .missing(let revision):
                return MultipartBody.Part(
                    headers: ["Content-Type": "application/json; error=\"true\""],
                    body: .bytes(Self.error(wanted, revision, .missing).bytes))
            case .removed(let removed): return try removed.part(in: snapshot)
            case .document(let document):
                var text = text
                text.attachmentsFollow = true
                text.attachmentsSince = try DocumentText.newestKnown(wanted.known, of: document, in: snapshot)
                let part = try MultipartDocument.part(document, text, snapshot, served)
                var headers: HTTPHeaders = ["X-Doc-Id": document.id, "X-Rev-Id": "\(document.revision)"]
                for field in part.headers.fields { headers.add(field.name, field.value) }
                return MultipartBody.Part(headers: headers, body: part.body)
            }
        }
        return HTTPResponse(
            200, headers: ["Content-Type": "\(type); boundary=\"\(boundary)\""],
            body: .stream(body, length: nil))
    }
}
