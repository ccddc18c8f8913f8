/// Goes through numbers of documents in their order.
protocol MatchCursor: AnyObject {
    /// The document that it is at; `Int.max` after the last, -1 before the first.
    var document: Int { get }

    /// Goes to the first document that is not less than `target`.
    func seek(_ target: Int) throws
}

extension MatchCursor {
    /// Goes through all documents, from before the first one on. O(n).
    func forEach(_ body: (_ document: Int) throws -> Void) throws {
        try seek(0)
        while document != .max {
            try body(document)
            try seek(document + 1)
        }
    }
}

extension Array where Element: MatchCursor {
    /// Brings all cursors to the first document, from `target` on, that all of them have.
    ///
    /// - Returns: `false` when there is none.
    func align(_ target: inout Int) throws -> Bool {
        var index = 0
        while index < count {
            try self[index].seek(target)
            guard self[index].document != .max else { return false }
            if self[index].document > target {
                target = self[index].document
                index = index == 0 ? 1 : 0
            } else {
                index += 1
            }
        }
        return true
    }
}
