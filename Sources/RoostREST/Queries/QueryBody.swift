import Roost
import RoostQuery
import RoostWire

/// The answer to `_query`, made as it is sent: all of one moment, and no more in memory than a piece of it.
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
        // Cancelled with the task that asks for the piece.
        let made = try query.cursor { false }
        cursor = made
        bytes += "{\"columns\":".utf8 + JSON.strings(query.columnNames).bytes + ",\"rows\":[".utf8
        return made
    }
}
