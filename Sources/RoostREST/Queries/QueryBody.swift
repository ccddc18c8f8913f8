import Roost
import RoostQuery
import RoostWire

/// The answer to `_query`, made as it is sent: all of one moment, and no more in memory than a piece of it.
actor QueryBody: BodyStream {
    private static let pieceSize = 32 << 10

    private let reading: Reading
    private let workers: WorkerPool

    init(_ query: RoostQuery.Query, _ workers: WorkerPool) {
        reading = Reading(query)
        self.workers = workers
    }

    func next() async throws -> [UInt8]? {
        let reading = reading
        return try await workers.run(cancelled: CancellationError() as any Error) { flag in
            try reading.piece(flag)
        }
    }

    /// How far the rows were read. Only one call at a time is made, since a body is asked by one task at a time and each call is
    /// waited for.
    private final class Reading: @unchecked Sendable {
        private let query: RoostQuery.Query
        private var cursor: RowsCursor?
        private var count = 0
        private var hasEnded = false
        /// Of the call that is being made.
        private var flag: CancellationFlag?

        init(_ query: RoostQuery.Query) { self.query = query }

        func piece(_ flag: CancellationFlag) throws -> [UInt8]? {
            guard !hasEnded else { return nil }
            self.flag = flag
            var bytes: [UInt8] = []
            let cursor = try cursor ?? begin(&bytes)
            while bytes.count < QueryBody.pieceSize {
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

        private func begin(_ bytes: inout [UInt8]) throws -> RowsCursor {
            let made = try query.cursor { [unowned self] in flag?.isSet == true }
            cursor = made
            bytes += "{\"columns\":".utf8 + JSON.strings(query.columnNames).bytes + ",\"rows\":[".utf8
            return made
        }
    }
}
