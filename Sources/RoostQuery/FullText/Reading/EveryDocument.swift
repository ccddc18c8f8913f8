import RoostStorage

/// The documents of a stored segment, by their IDs: however far their numbers lie apart, what is read are entries that there are.
final class StoredDocuments: MatchCursor {
    private let cursor: Cursor
    private(set) var document = -1

    init(_ rows: TreeView, _ documents: Range<Int>) { cursor = rows.cursor(TextKeys.ids(documents)) }

    func seek(_ target: Int) throws {
        guard document < target else { return }
        let isNext = document >= 0 && target == document + 1
        let isThere = isNext ? try cursor.next() : try cursor.seek(TextKeys.id(target))
        document = isThere ? TextKeys.number(cursor.keyView) : .max
        guard document >= target else { throw TextDamage.error }
    }
}

/// All numbers of a segment in memory.
final class MemoryDocuments: MatchCursor {
    private let documents: Range<Int>
    private(set) var document = -1

    init(_ documents: Range<Int>) { self.documents = documents }

    func seek(_ target: Int) {
        let next = max(target, documents.lowerBound)
        document = next < documents.upperBound ? next : .max
    }
}
