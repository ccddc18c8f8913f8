import Roost

/// An index of values that the documents of a collection have: what it is of.
public struct ValueIndex: Sendable, Hashable, Codable {
    /// Its name, unique in the collection.
    public var name: String
    /// The expressions that its rows are ordered by, in SQL++, each with `DESC` where it goes down: `stars DESC, title`.
    /// Empty with ``unnesting`` for the elements themselves.
    public var columns: String
    /// Expressions whose values its rows have as well, in SQL++, so that queries for nothing else read no documents.
    public var including: String?
    /// Up to three expressions whose numbers are added up, counted and compared within the index, so that their sum, average,
    /// least and greatest over any range of rows are known without reading these. They are included, too.
    public var summing: String?
    /// The condition, in SQL++, that documents in the index meet; `nil` for all of them.
    public var condition: String?
    /// The path of an array, each element of which has a row of its own; `columns` are paths within an element then.
    public var unnesting: String?
    /// In place of ``condition``, a Mango selector in JSON.
    package var selector: String?

    /// The description of an index.
    public init(
        _ name: String, on columns: String = "", including: String? = nil, summing: String? = nil,
        where condition: String? = nil, unnesting: String? = nil
    ) {
        self.name = name
        self.columns = columns
        self.including = including
        self.summing = summing
        self.condition = condition
        self.unnesting = unnesting
    }
    /// Whether both say the same, byte by byte.
    public static func == (left: Self, right: Self) -> Bool { left.texts == right.texts }

    /// Hashes all that it says.
    public func hash(into hasher: inout Hasher) { hasher.combine(texts) }

    private var texts: [ByteKey?] {
        [name, columns, including, summing, condition, unnesting, selector].map { $0.map { ByteKey($0) } }
    }
}
