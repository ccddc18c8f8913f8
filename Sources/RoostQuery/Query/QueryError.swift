import Roost

/// What is wrong with the text of a query: the underlying error of a `DatabaseError` whose code is `invalidQuery`.
public struct QueryError: Error, Sendable, Hashable {
    /// What was found, what was expected, and what was perhaps meant.
    public let message: String
    /// Where in the text, in bytes of its UTF-8; `nil` where no place can be named.
    public let offset: Int?
    /// The word by which CouchDB names the fault of a Mango request, such as `bad_arg`; `nil` where it has none.
    package let word: String?
    /// What kept the database from being asked about its collections and indexes: then nothing is wrong with the text.
    let failure: DatabaseError?

    init(_ message: String, at offset: Int? = nil, word: String? = nil) {
        self.message = message
        self.offset = offset
        self.word = word
        failure = nil
    }

    /// The same fault, at a place where it has none.
    func placed(at place: Place) -> QueryError {
        guard offset == nil, failure == nil, let offset = place.offset else { return self }
        return QueryError(message, at: offset, word: word)
    }

    /// While planning the database failed.
    init(_ failure: DatabaseError) {
        message = failure.message
        offset = nil
        word = nil
        self.failure = failure
    }

    /// Whether both find the same fault with the text.
    public static func == (a: QueryError, b: QueryError) -> Bool {
        a.message == b.message && a.offset == b.offset
    }

    /// Equal for equal errors.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(message)
        hasher.combine(offset)
    }
}

extension QueryError: CustomStringConvertible {
    /// The message, after the place where there is one: `at byte 22: an expression is expected here`.
    public var description: String { offset.map { "at byte \($0): \(message)" } ?? message }
}

extension DatabaseError {
    /// What is wrong with a query that has no text.
    init(_ error: QueryError) {
        self = error.failure ?? DatabaseError(.invalidQuery, error.message, underlyingError: error)
    }

    /// The word by which CouchDB names the fault of a Mango request.
    package var mangoWord: String? { (underlyingError as? QueryError)?.word }

    /// What is wrong with the query `text`.
    init(_ error: QueryError, in text: String) {
        guard error.failure == nil else {
            self.init(error)
            return
        }
        var place = ""
        if let offset = error.offset {
            let before = text.utf8.prefix(offset)
            let line = before.count { $0 == UInt8(ascii: "\n") }
            let rest = before.suffix(while: { $0 != UInt8(ascii: "\n") })
            let column = String(decoding: rest, as: UTF8.self).count + 1
            place = line == 0 ? "column \(column): " : "line \(line + 1), column \(column): "
        }
        self.init(.invalidQuery, place + error.message, underlyingError: error)
    }
}

extension BidirectionalCollection {
    /// The longest end of which `predicate` is true throughout.
    fileprivate func suffix(while predicate: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, predicate(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}

/// What was perhaps meant by an unknown word.
package enum Suggestion {
    /// `, did you mean X?` for the candidate that is like `word`; nothing when none is.
    package static func text(for word: String, among candidates: some Sequence<String>) -> String {
        let lowercased = word.lowercased()
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(Array(lowercased.utf8), Array(candidate.lowercased().utf8))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.name != word, best.distance <= Swift.max(1, word.utf8.count / 3) else {
            return ""
        }
        return "; did you mean \(best.name)?"
    }

    /// ``text(for:among:)``, or which candidates there are, where none is like `word`.
    package static func textOrList(for word: String, among candidates: [String]) -> String {
        let near = text(for: word, among: candidates)
        guard near.isEmpty, !candidates.isEmpty else { return near }
        let shown = candidates.prefix(mostListed).map { $0 == "_default" ? "_default (write _)" : $0 }
        let more = candidates.count > shown.count ? " and \(candidates.count - shown.count) more" : ""
        return "; there is \(shown.joined(separator: ", "))\(more)."
    }

    private static let mostListed = 8

    /// How many letters have to be added, removed, replaced or exchanged with their neighbour (the optimal string alignment
    /// distance); long words are not compared.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        guard a.count <= 40, b.count <= 40 else { return .max }
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var cost = Swift.min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    cost = Swift.min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
