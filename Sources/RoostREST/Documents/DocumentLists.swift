import Fleece
import Roost
import RoostWire

/// `_all_docs` and its like: documents in the order of their IDs, as rows of a view.
enum DocumentLists {
    /// The parameters of a list.
    private struct Selection: Sendable {
        var range: DocumentSelection
        /// The IDs that a request lists.
        var keys: [FleeceValue]?
        var skip: Int
        var limit: Int
        let includesDocuments: Bool
        let text: DocumentText
        let tellsSequence: Bool

        /// - Parameter memory: Where what is sent of attachments is reserved.
        init(_ query: RequestQuery, prefix: String?, keys: [FleeceValue]?, _ memory: RequestMemory) throws {
            var range = DocumentSelection(prefix: prefix)
            range.isDescending = try query.flag("descending")
            let start = try query.json("startkey", "start_key")?.root
            let end = try query.json("endkey", "end_key")?.root
            let inclusive = try query.flag("inclusive_end", default: true)
            let (low, high) = range.isDescending ? (end, start) : (start, end)
            if let low { range.from = Self.bound(low) }
            if let high { range.to = Self.bound(high) }
            if range.isDescending {
                // The lower end is left out by beginning right after it.
                if !inclusive, let from = range.from { range.from = from + "\u{0}" }
            } else {
                range.includesEnd = inclusive
            }
            self.keys = keys
            if let list = try query.json("keys")?.root {
                guard let list = list.array else {
                    throw HTTPFailure.badRequest("`keys` parameter must be an array.")
                }
                self.keys = Array(list)
            } else if let key = try query.json("key")?.root, case nil = keys {
                // An ID that is not there, and a key that is no ID, are no row.
                range.from = key.string
                range.to = key.string
                range.includesEnd = true
                if key.string == nil || !inclusive { self.keys = [] }
            }
            // A list of design documents has no others.
            if let prefix { self.keys = self.keys?.filter { $0.string?.begins(with: prefix) == true } }
            guard try !query.flag("group"), query["group_level"] == nil else {
                throw HTTPFailure.invalidQuery("Invalid use of grouping on a map view.")
            }
            let others = [
                query["key"], query["startkey"], query["start_key"], query["endkey"], query["end_key"],
            ]
            if let keys = self.keys, keys.count > 1, others.contains(where: { $0 != nil }) {
                throw HTTPFailure.invalidQuery("`keys` is incompatible with `key`, `start_key` and `end_key`")
            }
            self.range = range
            skip = try query.count("skip") ?? 0
            limit = try query.count("limit") ?? .max
            includesDocuments = try query.flag("include_docs")
            text = try DocumentText(query, memory)
            tellsSequence = try query.flag("update_seq")
        }

        /// How many documents the list is of, and how many of all come before its first row; not known for a list of keys, as in
        /// CouchDB.
        func place(in snapshot: CollectionSnapshot) throws -> (total: Int, offset: Int?) {
            let total =
                try range.prefix.map { try snapshot.count(of: DocumentSelection(prefix: $0)) }
                ?? snapshot.count
            guard case .none = keys else { return (total, nil) }
            var others = DocumentSelection()
            others.includesEnd = false
            if range.isDescending {
                others.from = range.to.map { $0 + "\u{0}" } ?? range.prefix.map { $0 + "\u{10FFFF}" }
            } else {
                others.to = range.from ?? range.prefix
            }
            let isWhole = others.from == nil && others.to == nil
            let before = isWhole ? 0 : try snapshot.count(of: others)
            return (total, before + min(skip, max(0, snapshot.count - before)))
        }

        /// A key's place among IDs, which are texts: numbers and the like come before all of them, arrays and objects after.
        private static func bound(_ key: FleeceValue) -> String {
            switch key.kind {
            case .string: key.string ?? ""
            case .array, .dictionary: "\u{10FFFF}\u{10FFFF}\u{10FFFF}"
            default: ""
            }
        }
    }

    static func respond(_ target: DatabaseContext, _ path: [String]) async throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET", "POST")
        var query = context.query
        var keys: [FleeceValue]?
        if context.method == "POST" {
            let body = try await context.object(perValue: bytesPerKey).root
            if path.count > 1, path[1] == "queries" { return try await queries(target, path[0], body) }
            query = query.completed(by: body.dictionary ?? .empty)
            keys = try Self.keys(body)
        }
        let visibility = try target.visibility(of: try target.collection.snapshot())
        let body = try list(
            target, visibility, try selection(target, path[0], query, keys), isLocal: path[0] == local)
        guard path[0] != local else { return try await context.stream(body) }
        return try await context.stream(body, of: target, at: visibility.snapshot)
    }

    /// What a key takes beside the body: its place in a list, and in a part of it.
    private static let bytesPerKey = 2 * MemoryLayout<FleeceValue>.stride

    private static func keys(_ body: FleeceValue) throws -> [FleeceValue]? {
        guard body["keys"].exists else { return nil }
        guard let list = body["keys"].array else {
            throw HTTPFailure.badRequest("`keys` member must be an array.")
        }
        return Array(list)
    }

    private static func selection(
        _ target: DatabaseContext, _ kind: String, _ query: RequestQuery, _ keys: [FleeceValue]?
    ) throws -> Selection {
        try Selection(
            query, prefix: kind == "_design_docs" ? "_design/" : nil, keys: keys, target.context.memory)
    }

    private static func queries(
        _ target: DatabaseContext, _ kind: String, _ body: FleeceValue
    ) async throws -> HTTPResponse {
        guard let queries = body["queries"].array else {
            throw HTTPFailure.badRequest("POST body must include `queries` parameter.")
        }
        let selected = { @Sendable (index: Int) in
            let value = queries[index]
            let keys = try keys(value)
            let query = target.query.overridden(by: value.dictionary ?? .empty)
            return try selection(target, kind, keys == nil ? query : query.without("keys"), keys)
        }
        // What is wrong with one of them is the answer to all.
        for index in queries.indices { _ = try selected(index) }
        let visibility = try target.visibility(of: try target.collection.snapshot())
        let body = ResultsBody(count: queries.count) { index in
            try list(target, visibility, selected(index), isLocal: kind == local)
        }
        return try await target.context.stream(body)
    }

    private static let local = "_local_docs"

    private static func list(
        _ target: DatabaseContext, _ visibility: Visibility, _ selection: Selection, isLocal: Bool
    ) throws -> GeneratedBody {
        let served = target.served
        if isLocal { return localList(visibility.snapshot, selection) }
        return GeneratedBody {
            let rows = try Rows(visibility, served, selection)
            return { try rows.piece() }
        }
    }

    /// The rows of a list, with the commas between them.
    private final class Rows {
        private let snapshot: CollectionSnapshot
        private let visibility: Visibility
        private let served: ServedDatabase
        private let selection: Selection
        /// Of the rows that are seen, where not everything is.
        private var page: SeenPage
        private var seen: SeenDocuments?
        private let cursor: DocumentCursor?
        private var keys: ArraySlice<FleeceValue> = []
        /// Of the next keys, last first, looked up together.
        private var documents: [Document?] = []
        private static let batchSize = 100
        private var isFirst = true
        private var hasBegun = false
        private var hasEnded = false

        init(_ visibility: Visibility, _ served: ServedDatabase, _ selection: Selection) throws {
            let snapshot = visibility.snapshot
            self.snapshot = snapshot
            self.visibility = visibility
            page = SeenPage(skip: selection.skip, limit: selection.limit)
            self.served = served
            self.selection = selection
            if let keys = selection.keys {
                let ordered = selection.range.isDescending ? Array(keys.reversed()) : keys
                self.keys = ordered.dropFirst(selection.skip).prefix(selection.limit)
                cursor = nil
            } else if let access = visibility.access {
                seen = try SeenDocuments(selection.range, access, visibility)
                cursor = nil
            } else {
                var range = selection.range
                range.skip = selection.skip
                range.limit = selection.limit
                cursor = try snapshot.cursor(range)
            }
        }

        /// The next part of the list's text.
        func piece() throws -> [UInt8]? {
            if hasEnded { return nil }
            var bytes = hasBegun ? [] : try beginning
            hasBegun = true
            while bytes.count < 32 << 10 {
                guard let row = try nextRow() else {
                    hasEnded = true
                    bytes += "\n]}\n".utf8
                    break
                }
                if !isFirst { bytes += ",\n".utf8 }
                isFirst = false
                row.write(to: &bytes)
            }
            return bytes
        }

        private var beginning: [UInt8] {
            get throws {
                // What is not seen is not counted either.
                guard case nil = visibility.access else {
                    return Array("{\"total_rows\":null,\"offset\":null,\"rows\":[\n".utf8)
                }
                let (total, offset) = try selection.place(in: snapshot)
                var text = "{\"total_rows\":\(total),\"offset\":\(offset.map(String.init) ?? "null"),"
                if selection.tellsSequence {
                    text += "\"update_seq\":\"\(served.token(snapshot.lastSequence))\","
                }
                return Array((text + "\"rows\":[\n").utf8)
            }
        }

        private func nextRow() throws -> JSON? {
            if seen != nil { return try nextSeen() }
            if let cursor {
                if selection.includesDocuments {
                    return try cursor.next().map { try row($0.id, $0.revision, false, document: $0) }
                }
                return try cursor.nextChange().map { try row($0.id, $0.revision, false, document: nil) }
            }
            if documents.isEmpty {
                // What is no text is the ID of no document, as the empty one.
                let ids = keys.prefix(Rows.batchSize).map { $0.string ?? "" }
                documents = try visibility.winners(ids).reversed()
            }
            guard let key = keys.popFirst(), let found = documents.popLast() else { return nil }
            guard let document = found else {
                return ["key": .text(key.jsonBytes()), "error": "not_found"]
            }
            return try row(document.id, document.revision, document.isDeleted, document: document)
        }

        /// The next row of a document that is seen.
        private func nextSeen() throws -> JSON? {
            while !page.isFull, let document = try seen?.next() {
                guard page.takes() else { continue }
                return try row(document.id, document.revision, false, document: document)
            }
            return nil
        }

        private func row(
            _ id: String, _ revision: RevisionID, _ isDeleted: Bool, document: Document?
        ) throws -> JSON {
            var value: [(String, JSON)] = [("rev", .string(revision.description))]
            if isDeleted { value.append(("deleted", true)) }
            var members: [(String, JSON)] = [
                ("id", .string(id)), ("key", .string(id)), ("value", .object(value)),
            ]
            if selection.includesDocuments {
                let text =
                    try isDeleted
                    ? nil : document.map { try selection.text.bytes($0, in: snapshot, of: served) }
                members.append(("doc", text.map { .text($0) } ?? .null))
            }
            return .object(members)
        }
    }

    /// The IDs of local documents that a list has, some of them in memory at a time.
    private struct LocalIDs {
        private let snapshot: CollectionSnapshot
        private var range: DocumentSelection
        private var read: ArraySlice<String>
        private var skip: Int
        private var limit: Int
        private var hasReadAll: Bool

        private static let pageSize = 500

        init(_ snapshot: CollectionSnapshot, _ selection: Selection) {
            self.snapshot = snapshot
            range = selection.range
            (skip, limit) = (selection.skip, selection.limit)
            let keys = selection.keys?.map { $0.string ?? "" }
            hasReadAll = keys != nil
            read = (range.isDescending ? keys?.reversed() : keys)?[...] ?? []
        }

        mutating func next() throws -> String? {
            while limit > 0 {
                if let id = read.popFirst() {
                    guard skip == 0 else {
                        skip -= 1
                        continue
                    }
                    limit -= 1
                    return id
                }
                guard !hasReadAll else { return nil }
                try Task.checkCancellation()
                read = try snapshot.localDocumentNames(in: range, limit: Self.pageSize).map { prefix + $0 }[
                    ...]
                hasReadAll = read.count < Self.pageSize
                guard let last = read.last else { return nil }
                if range.isDescending {
                    (range.to, range.includesEnd) = (last, false)
                } else {
                    range.from = last + "\u{0}"
                }
            }
            return nil
        }
    }

    private static func localList(_ snapshot: CollectionSnapshot, _ selection: Selection) -> GeneratedBody {
        GeneratedBody {
            var ids = LocalIDs(snapshot, selection)
            var isFirst = true
            var hasEnded = false
            // The total is null, as in CouchDB.
            var bytes = Array("{\"total_rows\":null,\"offset\":null,\"rows\":[".utf8)
            return {
                guard !hasEnded else { return nil }
                while bytes.count < 32 << 10, !hasEnded {
                    guard let id = try ids.next() else {
                        hasEnded = true
                        bytes += "]}\n".utf8
                        break
                    }
                    if !isFirst { bytes.append(UInt8(ascii: ",")) }
                    isFirst = false
                    try localRow(id, snapshot, selection).write(to: &bytes)
                }
                defer { bytes = [] }
                return bytes
            }
        }
    }

    private static let prefix = "_local/"

    private static func localRow(
        _ id: String, _ snapshot: CollectionSnapshot, _ selection: Selection
    ) throws -> JSON {
        let name = id.removing(prefix: prefix) ?? ""
        guard !name.isEmpty, let document = try snapshot.localDocument(name) else {
            return ["key": .string(id), "error": "not_found"]
        }
        var members: [(String, JSON)] = [
            ("id", .string(id)), ("key", .string(id)), ("value", ["rev": .string("0-\(document.revision)")]),
        ]
        if selection.includesDocuments { members.append(("doc", .text(LocalRoutes.text(document, name)))) }
        return .object(members)
    }
}

extension DocumentSelection {
    /// Whether an ID is in the range.
    func contains(_ id: String) -> Bool {
        if let prefix, !id.utf8.starts(with: prefix.utf8) { return false }
        if let from, id.utf8.lexicographicallyPrecedes(from.utf8) { return false }
        guard let to else { return true }
        return id.utf8.lexicographicallyPrecedes(to.utf8) || includesEnd && id.utf8.elementsEqual(to.utf8)
    }
}
