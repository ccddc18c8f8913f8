import Fleece
import Roost
import RoostWire

/// What replicators ask about revisions, and what removes them.
enum RevisionRoutes {
    /// What a revision takes, or the ID of a document, while it is asked about: its text, and what that is read as.
    private static let bytesPerRevision = 192
    /// How many documents are looked up together.
    private static let batchSize = 100

    /// `{"id":["1-a"]}`, in that order: replicators send what is missing in the order of the answer.
    private static func revisions(_ target: DatabaseContext) async throws -> [(id: String, texts: [String])] {
        let (object, text) = try await target.context.orderedObject(perValue: bytesPerRevision)
        var asked: [(String, [String])] = []
        var known: Set<[UInt8]> = []
        for id in MemberOrder.names(in: text) where known.insert(Array(id.utf8)).inserted {
            guard let texts = object.root[id].array?.map(\.string), !texts.contains(nil) else {
                throw HTTPFailure.badRequest("The revisions of a document must be an array of texts.")
            }
            asked.append((id, texts.compactMap { $0 }))
        }
        return asked
    }

    static func difference(_ target: DatabaseContext, isDiff: Bool) async throws -> HTTPResponse {
        let asked = try await revisions(target)
        let visibility = try target.visibility(of: try target.collection.snapshot())
        let body = GeneratedBody {
            var index = 0
            var separator = isDiff ? "{" : "{\"missing_revs\":{"
            var hasEnded = false
            return {
                guard !hasEnded else { return nil }
                var bytes: [UInt8] = []
                while index < asked.count, bytes.count < 32 << 10 {
                    let batch = index..<min(index + batchSize, asked.count)
                    for (place, found) in zip(batch, try visibility.differences(Array(asked[batch]))) {
                        guard let row = try missing(asked[place], found, isDiff: isDiff) else { continue }
                        bytes += separator.utf8
                        separator = ","
                        bytes.append(jsonString: asked[place].id)
                        bytes.append(UInt8(ascii: ":"))
                        row.write(to: &bytes)
                    }
                    index = batch.upperBound
                }
                guard index == asked.count else { return bytes.isEmpty ? [0x20] : bytes }
                hasEnded = true
                if separator != "," { bytes += separator.utf8 }
                return bytes + Array(isDiff ? "}\n".utf8 : "}}\n".utf8)
            }
        }
        return try await target.context.stream(body)
    }

    /// What is missing of the revisions that a replicator offers of a document; `nil` where nothing is.
    private static func missing(
        _ asked: (id: String, texts: [String]),
        _ found: (missing: [RevisionID], possibleAncestors: [RevisionID]), isDiff: Bool
    ) throws -> JSON? {
        let unknown = try asked.texts.filter { try RevisionID.possible($0) == nil }
        let all = found.missing.map(\.description) + unknown
        guard !all.isEmpty else { return nil }
        guard isDiff else { return .strings(all) }
        var members: [(String, JSON)] = [("missing", .strings(all))]
        if !found.possibleAncestors.isEmpty {
            members.append(("possible_ancestors", .strings(found.possibleAncestors.map(\.description))))
        }
        return .object(members)
    }

    static func limit(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET", "PUT")
        let collection = target.collection
        if context.method == "GET" { return context.answer(.number(try collection.snapshot().revisionLimit)) }
        try target.security.requireAdmin(target.user)
        guard let limit = try await context.uncheckedJSON().root.int, limit > 0 else {
            throw HTTPFailure.badRequest("Rev limit has to be an integer greater than 0")
        }
        try await target.served.database.write { batch in try batch.setRevisionLimit(limit, in: collection) }
        return context.answer(["ok": true])
    }

    static func purge(_ target: DatabaseContext) async throws -> HTTPResponse {
        try Security.requireServerAdmin(target.user)
        let collection = target.collection
        var asked: [(String, [RevisionID])] = []
        for (id, texts) in try await revisions(target) { asked.append((id, try RevisionID.named(texts))) }
        let purging = asked
        let purged = try await target.served.database.write { batch in
            try purging.map { id, revisions in
                let gone = try batch.purge(id, revisions: revisions, in: collection)
                try ChannelLedger(batch: batch, collection: collection).settlePurge(id)
                return (id, gone)
            }
        }
        return target.context.answer(
            201,
            [
                "purge_seq": nil,
                "purged": .object(purged.map { ($0.0, .strings($0.1.map(\.description))) }),
            ])
    }

    /// The purges that are still known of.
    static func purges(_ target: DatabaseContext) throws -> HTTPResponse {
        let purges = try target.collection.snapshot().purges(since: 0) ?? []
        return target.context.answer([
            "purged_infos": .array(
                purges.map { ["id": .string($0.id), "revs": .strings($0.revisions.map(\.description))] })
        ])
    }
}
