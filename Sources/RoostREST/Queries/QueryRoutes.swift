import Fleece
import Roost
import RoostQuery
import RoostWire

/// `_query`, which is Roost's own: SQL++ over the wire, in which `_` is the database of the path.
enum QueryRoutes {
    static func respond(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        try context.allow("POST")
        let body = try await context.object(perValue: FindRoutes.bytesPerValue)
        guard let statement = body.root["statement"].string else {
            throw HTTPFailure(400, "missing_required_key", "Missing required key: statement")
        }
        let parameters = try parameters(body.root["parameters"])
        // Before the statement is parsed, so that the answer is the same whatever it names, and again below, since a collection may
        // have been created in between.
        try requireAccess(target)
        let query: DatabaseQuery
        do throws(DatabaseError) {
            query = try target.collection.query(statement, parameters: parameters)
        } catch {
            guard error.code == .invalidQuery else { throw HTTPFailure(error) }
            throw HTTPFailure.invalidQuery(error.message)
        }
        try requireAccess(target)
        if body.root["explain"].bool == true {
            let plan = try query.explain()
            return context.answer([
                "columns": .strings(query.columnNames), "plan": .text(Array(plan.json.utf8)),
                "text": .strings(plan.description.split(separator: "\n").map(String.init)),
            ])
        }
        var limited = query
        limited.options.memoryLimit = FindRoutes.queryMemory
        try await context.memory.reserve(FindRoutes.queryMemory)
        return try await context.stream(QueryBody(limited))
    }

    private static func parameters(_ value: FleeceValue) throws -> [String: DocumentValue] {
        guard value.exists else { return [:] }
        guard case .dictionary(let parameters)? = DocumentValue(value) else {
            throw HTTPFailure.badRequest("parameters must be a JSON object")
        }
        return Dictionary(parameters.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }

    /// A statement may name every collection of the file, and each is a database with its own rules on the wire. So where there
    /// are others than the path's, only administrators of the server may ask.
    private static func requireAccess(_ target: DatabaseContext) throws {
        guard !target.user.isAdmin else { return }
        let database = target.served.database
        for scope in try database.scopes {
            let others = try database.collections(scope: scope).contains {
                ($0.scopeName, $0.collectionName)
                    != (target.collection.scopeName, target.collection.collectionName)
            }
            guard !others else {
                throw Security.refusal(
                    target.user, "This database has several collections: only server admins may query it.")
            }
        }
    }
}

/// The answer to `_query`, made as it is sent: from one snapshot, with no more in memory than a piece of it.
actor QueryBody: BodyStream {
    private static let pieceSize = 32 << 10

    private let query: DatabaseQuery
    private var cursor: RowCursor?
    private var count = 0
    private var hasEnded = false

    init(_ query: DatabaseQuery) { self.query = query }

    func next() throws -> [UInt8]? {
        guard !hasEnded else { return nil }
        var bytes: [UInt8] = []
        let cursor = try cursor ?? begin(&bytes)
        while bytes.count < Self.pieceSize {
            guard let row = try cursor.next() else {
                hasEnded = true
                bytes += "\n],\"documents_read\":\(cursor.documentsRead)}\n".utf8
                break
            }
            bytes += (count > 0 ? ",\n" : "\n").utf8
            bytes += row.json().utf8
            count += 1
        }
        return bytes
    }

    private func begin(_ bytes: inout [UInt8]) throws -> RowCursor {
        // Cancelled with the task that requests the piece.
        let made = try query.cursor { false }
        cursor = made
        bytes += "{\"columns\":".utf8 + JSON.strings(query.columnNames).bytes + ",\"rows\":[".utf8
        return made
    }
}
