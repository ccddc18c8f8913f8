import RoostBytes
import RoostStorage

extension IndexStore {
    /// Compares the two trees of each index: every row is listed with its document, and nothing else is. O(rows log rows).
    ///
    /// - Parameter step: called now and then with how many rows of an index were found; stops the check by throwing.
    /// - Returns: what is wrong, a sentence for each index.
    func findings(_ step: (_ done: UInt64, _ total: UInt64) throws -> Void) throws -> [String] {
        let snapshot = store.snapshot()
        guard let catalog = snapshot.tree(IndexTrees.catalog) else { return [] }
        var findings: [String] = []
        let cursor = try snapshot[catalog].cursor()
        while try cursor.next() {
            let name = String(decoding: cursor.key.bytes, as: UTF8.self)
            guard let record = try record(name, in: snapshot), record.phase == .complete, record.hasRows
            else { continue }
            if let finding = try finding(record, in: snapshot, step) {
                findings.append("\(name): \(finding)")
            }
        }
        return findings
    }

    private func finding(
        _ record: IndexRecord, in snapshot: Snapshot, _ step: (_ done: UInt64, _ total: UInt64) throws -> Void
    ) throws -> String? {
        guard let rowTree = snapshot.tree(IndexTrees.rows(record.number)),
            let documentTree = snapshot.tree(IndexTrees.documents(record.number))
        else { return "its trees are missing" }
        let rows = try snapshot[rowTree]
        let documents = try snapshot[documentTree].cursor()
        var listed: UInt64 = 0
        while try documents.next() {
            if listed % 1_024 == 0 { try step(listed, rows.count) }
            for key in try DocumentRows.keys(try documents.value(), of: documents.key.bytes) {
                guard try rows.contains(Key(key)) else { return "a row of a document is missing" }
                listed += 1
            }
        }
        return listed == rows.count ? nil : "\(rows.count) rows, of which documents list \(listed)"
    }
}
