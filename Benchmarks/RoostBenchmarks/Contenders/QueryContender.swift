/// A database of JSON documents that is asked, in the race.
protocol QueryContender: AnyObject {
    /// Stores a batch of documents, each with its ID, in one transaction.
    func insert(_ documents: [(id: String, json: String)]) throws
    /// Makes the indexes that its users would make for the questions.
    func makeIndexes() throws
    /// Asks, and answers how many rows there were and the last row's first value as a number, by which answers are compared.
    func ask(_ question: Question) throws -> Answer
    /// Closes.
    func close() throws
}

/// What an answer is compared by.
struct Answer: Equatable, CustomStringConvertible {
    var rows = 0
    var last = 0.0

    var description: String { "\(rows) rows, the last beginning with \(last)" }
}

/// What is asked. The documents have a `city`, a `day`, an `amount`, three `tags`, a `title`, and a text.
enum Question: String, CaseIterable, Sendable {
    case scan, group, any, top, one, range, covering, offset, count, sum, groups

    /// Whether it is asked before there are indexes.
    var isWithoutIndexes: Bool {
        switch self {
        case .scan, .group, .any, .top: true
        default: false
        }
    }

    /// The first row of OFFSET: in the middle.
    static func middle(of count: Int) -> Int { count / 2 }

    /// In SQL++, of the collection `docs`, which has `count` documents.
    func text(_ count: Int) -> String {
        switch self {
        case .scan: "SELECT count(*) FROM docs WHERE amount > 500"
        case .group: "SELECT city, avg(amount) FROM docs GROUP BY city"
        case .any: "SELECT count(*) FROM docs WHERE ANY t IN tags SATISFIES t = 'tag 7' END"
        case .top: "SELECT amount, title FROM docs ORDER BY amount DESC, title LIMIT 10"
        case .one: "SELECT day, title, text FROM docs WHERE title = 'title \(Self.middle(of: count))'"
        case .range: "SELECT amount, title, text FROM docs WHERE day = 40 LIMIT 100"
        case .covering: "SELECT day, amount FROM docs WHERE day >= 40 AND day < 60"
        case .offset: "SELECT day, amount FROM docs ORDER BY day LIMIT 10 OFFSET \(Self.middle(of: count))"
        case .count: "SELECT count(*) FROM docs WHERE day >= 20 AND day < 80"
        case .sum: "SELECT sum(amount) FROM docs WHERE day >= 20 AND day < 80"
        case .groups: "SELECT city, count(*) FROM docs GROUP BY city ORDER BY city"
        }
    }
}
