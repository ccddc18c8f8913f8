import Roost
import RoostQuery
import RoostWire

/// The answer to `_find`, made as it is sent: all of one moment, and no more in memory than a piece of it.
actor FindBody: BodyStream {
    private static let pieceSize = 32 << 10

    private let search: Search

    /// - Parameter bookmark: The one that leads to this page.
    init(_ target: DatabaseContext, _ request: DocumentValue, skip: Int, bookmark: String) {
        search = Search(target, request, skip, bookmark)
    }

    func next() throws -> [UInt8]? { try search.piece() }

    /// What is being looked for.
    private final class Search {
        private let target: DatabaseContext
        private let request: DocumentValue
        private let skip: Int
        private let bookmark: String
        private let start = ContinuousClock.now
        private var cursor: MangoCursor?
        private var isIndexed = false
        private var count = 0
        private var hasEnded = false

        init(_ target: DatabaseContext, _ request: DocumentValue, _ skip: Int, _ bookmark: String) {
            self.target = target
            self.request = request
            self.skip = skip
            self.bookmark = bookmark
        }

        func piece() throws -> [UInt8]? {
            guard !hasEnded else { return nil }
            var bytes: [UInt8] = []
            let cursor = try cursor ?? begin(&bytes)
            while bytes.count < FindBody.pieceSize {
                guard let document = try cursor.next() else {
                    hasEnded = true
                    bytes += try ending(cursor)
                    break
                }
                if count > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += try document.json().utf8
                count += 1
            }
            return bytes
        }

        private func begin(_ bytes: inout [UInt8]) throws -> MangoCursor {
            let collection = target.collection
            if !target.isLimited { try prepareIndexes() }
            let moment = try collection.database.snapshot()
            let visible = SeenByQuery(collection, try target.sight(of: try moment[collection]))
            var options = QueryOptions()
            options.memoryLimit = FindRoutes.queryMemory
            // Cancelled with the task that asks for the piece.
            let made = try collection.findCursor(request, at: moment, visible: visible, options: options) {
                false
            }
            // By what is defined alone: what indexes hold follows from all documents.
            if target.isLimited { isIndexed = made.hasIndex }
            cursor = made
            bytes += "{\"docs\":[".utf8
            return made
        }

        /// Brings the indexes up to date, and finds out whether another one would help.
        private func prepareIndexes() throws {
            let collection = target.collection
            try collection.prepareMangoIndexes()
            let steps = try collection.explainFind(request).steps
            // Where reading all documents takes less than an index that there is, nobody needs to make one.
            isIndexed =
                !steps.contains { $0.operation == "SCAN" }
                || steps.contains { $0.operation == "NOT USED" && $0.estimate != nil }
        }

        /// What follows the documents.
        private func ending(_ cursor: MangoCursor) throws -> [UInt8] {
            // Where the next page begins; after an empty one nobody goes on, nor starts over.
            let place = count == 0 ? bookmark : String(skip + count)
            var members: [(String, JSON)] = [("bookmark", .string(place))]
            // Figures would tell how many documents are not seen.
            if cursor.wantsStatistics, !target.isLimited {
                let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
                members.append(
                    (
                        "execution_stats",
                        [
                            "total_keys_examined": .number(cursor.keysExamined),
                            "total_docs_examined": .number(cursor.documentsExamined),
                            "total_quorum_docs_examined": 0, "results_returned": .number(count),
                            "execution_time_ms": .number(milliseconds),
                        ]
                    ))
            }
            let scan =
                isIndexed ? nil : "No matching index found, create an index to optimize query time."
            let warnings = [cursor.warning, scan].compactMap(\.self)
            if !warnings.isEmpty { members.append(("warning", .string(warnings.joined(separator: "\n")))) }
            return Array("],".utf8) + JSON.object(members).bytes.dropFirst() + [10]
        }
    }
}
